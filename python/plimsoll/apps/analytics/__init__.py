"""Analytics workflows: processes that generate, index, sort and summarise rows on the target (`plimsoll.apps.analytics.driver`)."""
