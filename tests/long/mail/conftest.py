"""Days of users on real mail servers: places and servers are those of the shorter tests."""

from mail.conftest import mail_server, place

__all__ = ["mail_server", "place"]
