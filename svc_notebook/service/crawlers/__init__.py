"""Crawlers in the service: configurations, tasks, URL ledgers and publishing."""
