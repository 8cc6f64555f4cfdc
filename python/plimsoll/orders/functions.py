"""The five transactions as functions of PostgreSQL, so that each is one call.

Model: the same statements in the same order as `plimsoll.orders.statements`, carried out in the server. A client then has one round trip
for a transaction, as order entry programs have that keep their transactions in the database, and the figures are of the server and its
storage rather than of the way to it. A function returns a figure that the client can look at: the total of an order in cents, the customer
who paid, the lines of an order, how many orders were delivered, how many items are low.
Limits: parameters are called like tables, which PL/pgSQL is told to keep apart. ``new_order`` returns null when an item does not exist,
and it is for the caller to roll back what was done until then. A row that has to be there and is not ends a function with the error
``no_data_found`` or ``too_many_rows``.

    session.execute(CREATE); session.execute("SELECT new_order(1, 3, 250, '{17,4711}', '{1,1}', '{5,2}')")
"""

from __future__ import annotations

from plimsoll.orders.requests import KINDS, Delivery, NewOrder, OrderStatus, Payment, Request
from plimsoll.orders.scale import DISTRICTS
from plimsoll.orders.statements import Statement

_PLACE = " ".join(f"WHEN {district} THEN s_dist_{district:02d}" for district in range(1, DISTRICTS + 1))

_NEW_ORDER = f"""
CREATE FUNCTION new_order(warehouse int, district int, customer int, items int[], suppliers int[], quantities int[])
RETURNS bigint LANGUAGE plpgsql AS $body$
#variable_conflict use_variable
DECLARE
    entered timestamp := localtimestamp;
    order_number int; tax int; district_tax int; discount int; price int; place text; amount bigint; total bigint := 0;
BEGIN
    SELECT w_tax INTO STRICT tax FROM warehouse WHERE w_id = warehouse;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = warehouse AND d_id = district
        RETURNING d_next_o_id - 1, d_tax INTO STRICT order_number, district_tax;
    SELECT c_discount INTO STRICT discount FROM customer WHERE c_w_id = warehouse AND c_d_id = district AND c_id = customer;
    INSERT INTO orders VALUES (warehouse, district, order_number, customer, entered, NULL, cardinality(items),
        CASE WHEN warehouse = ALL (suppliers) THEN 1 ELSE 0 END);
    INSERT INTO new_order VALUES (warehouse, district, order_number);
    FOR line IN 1 .. cardinality(items) LOOP
        SELECT i_price INTO price FROM item WHERE i_id = items[line];
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        UPDATE stock SET
            s_quantity = CASE WHEN s_quantity >= quantities[line] + 10 THEN s_quantity - quantities[line]
                              ELSE s_quantity - quantities[line] + 91 END,
            s_ytd = s_ytd + quantities[line], s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN suppliers[line] = warehouse THEN 0 ELSE 1 END
            WHERE s_w_id = suppliers[line] AND s_i_id = items[line]
            RETURNING CASE district {_PLACE} END INTO STRICT place;
        amount := price * quantities[line];
        total := total + amount;
        INSERT INTO order_line VALUES (warehouse, district, order_number, line, items[line], suppliers[line], NULL, quantities[line],
            amount, place);
    END LOOP;
    RETURN total * (10000 - discount) / 10000 * (10000 + tax + district_tax) / 10000;
END $body$
"""

_PAYMENT = """
CREATE FUNCTION payment(warehouse int, district int, of_warehouse int, of_district int, customer int, last_name text, amount int)
RETURNS int LANGUAGE plpgsql AS $body$
#variable_conflict use_variable
DECLARE
    number int := customer; named text; also text; credit text; found int[];
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = warehouse RETURNING w_name INTO STRICT named;
    UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = warehouse AND d_id = district RETURNING d_name INTO STRICT also;
    IF number = 0 THEN
        found := ARRAY(SELECT c_id FROM customer WHERE c_w_id = of_warehouse AND c_d_id = of_district AND c_last = last_name
            ORDER BY c_first);
        number := found[(cardinality(found) + 1) / 2];
    END IF;
    UPDATE customer SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount, c_payment_cnt = c_payment_cnt + 1
        WHERE c_w_id = of_warehouse AND c_d_id = of_district AND c_id = number RETURNING c_credit INTO STRICT credit;
    IF credit = 'BC' THEN
        UPDATE customer SET c_data = substr(
            format('%s %s %s %s %s %s|', number, of_district, of_warehouse, district, warehouse, amount) || c_data, 1, 500)
            WHERE c_w_id = of_warehouse AND c_d_id = of_district AND c_id = number;
    END IF;
    INSERT INTO history VALUES (number, of_district, of_warehouse, district, warehouse, localtimestamp, amount, named || '    ' || also);
    RETURN number;
END $body$
"""

_ORDER_STATUS = """
CREATE FUNCTION order_status(warehouse int, district int, customer int, last_name text)
RETURNS int LANGUAGE plpgsql STABLE AS $body$
#variable_conflict use_variable
DECLARE
    number int := customer; found int[]; balance bigint; order_number int; lines int := 0; line record;
BEGIN
    IF number = 0 THEN
        found := ARRAY(SELECT c_id FROM customer WHERE c_w_id = warehouse AND c_d_id = district AND c_last = last_name ORDER BY c_first);
        number := found[(cardinality(found) + 1) / 2];
    END IF;
    SELECT c_balance INTO STRICT balance FROM customer WHERE c_w_id = warehouse AND c_d_id = district AND c_id = number;
    SELECT o_id INTO STRICT order_number FROM orders WHERE o_w_id = warehouse AND o_d_id = district AND o_c_id = number
        ORDER BY o_id DESC LIMIT 1;
    FOR line IN SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
            WHERE ol_w_id = warehouse AND ol_d_id = district AND ol_o_id = order_number LOOP
        lines := lines + 1;
    END LOOP;
    RETURN lines;
END $body$
"""

_DELIVERY = f"""
CREATE FUNCTION delivery(warehouse int, carrier int)
RETURNS int LANGUAGE plpgsql AS $body$
#variable_conflict use_variable
DECLARE
    oldest int; closed int; customer int; total bigint; delivered int := 0; entered timestamp := localtimestamp;
BEGIN
    FOR district IN 1 .. {DISTRICTS} LOOP
        closed := NULL;
        WHILE closed IS NULL LOOP
            SELECT no_o_id INTO oldest FROM new_order WHERE no_w_id = warehouse AND no_d_id = district ORDER BY no_o_id LIMIT 1;
            EXIT WHEN NOT FOUND;
            -- Another delivery may have taken it since; then there is a next one.
            DELETE FROM new_order WHERE no_w_id = warehouse AND no_d_id = district AND no_o_id = oldest RETURNING no_o_id INTO closed;
        END LOOP;
        CONTINUE WHEN closed IS NULL;
        UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = warehouse AND o_d_id = district AND o_id = closed
            RETURNING o_c_id INTO STRICT customer;
        WITH sent AS (UPDATE order_line SET ol_delivery_d = entered
            WHERE ol_w_id = warehouse AND ol_d_id = district AND ol_o_id = closed RETURNING ol_amount)
            SELECT sum(ol_amount) INTO STRICT total FROM sent;
        UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = warehouse AND c_d_id = district AND c_id = customer;
        delivered := delivered + 1;
    END LOOP;
    RETURN delivered;
END $body$
"""

_STOCK_LEVEL = """
CREATE FUNCTION stock_level(warehouse int, district int, threshold int)
RETURNS int LANGUAGE plpgsql STABLE AS $body$
#variable_conflict use_variable
DECLARE
    next_order int; low int;
BEGIN
    SELECT d_next_o_id INTO STRICT next_order FROM district WHERE d_w_id = warehouse AND d_id = district;
    SELECT count(DISTINCT s_i_id) INTO STRICT low FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = warehouse AND ol_d_id = district AND ol_o_id < next_order AND ol_o_id >= next_order - 20
        AND s_quantity < threshold;
    RETURN low;
END $body$
"""

#: What makes the functions.
CREATE: tuple[str, ...] = (_NEW_ORDER, _PAYMENT, _ORDER_STATUS, _DELIVERY, _STOCK_LEVEL)

#: Each of them with the types that it takes, as the server tells them.
SIGNATURES = tuple(
    f"{name}({', '.join(types)})"
    for name, types in {
        "new_order": (*("integer",) * 3, *("integer[]",) * 3),
        "payment": (*("integer",) * 5, "text", "integer"),
        "order_status": (*("integer",) * 3, "text"),
        "delivery": ("integer",) * 2,
        "stock_level": ("integer",) * 3,
    }.items()
)

_CALLS = {
    NewOrder: Statement("call_new_order", "SELECT new_order($1, $2, $3, $4, $5, $6)"),
    Payment: Statement("call_payment", "SELECT payment($1, $2, $3, $4, $5, $6, $7)"),
    OrderStatus: Statement("call_order_status", "SELECT order_status($1, $2, $3, $4)"),
    Delivery: Statement("call_delivery", "SELECT delivery($1, $2)"),
}
_STOCK_LEVEL_CALL = Statement("call_stock_level", "SELECT stock_level($1, $2, $3)")
#: Every call, for preparing them.
CALLS: tuple[Statement, ...] = (*_CALLS.values(), _STOCK_LEVEL_CALL)

#: The name that the call of each kind is prepared under.
CALL_OF: dict[str, str] = {kind: f"call_{kind.replace('-', '_')}" for kind in KINDS}


def call(request: Request) -> tuple[Statement, tuple[int | str, ...]]:
    """The call for a transaction, with its values; arrays are texts as PostgreSQL reads them."""
    if isinstance(request, NewOrder):
        columns = zip(*request.lines, strict=True)
        arrays = [f"{{{','.join(map(str, column))}}}" for column in columns]
        return _CALLS[NewOrder], (request.warehouse, request.district, request.customer, *arrays)
    return _CALLS.get(type(request), _STOCK_LEVEL_CALL), tuple(request)
