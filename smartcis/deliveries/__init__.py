"""Deliveries: changes of queries handed out, to alarms and to other people's servers."""
