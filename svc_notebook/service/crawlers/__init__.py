"""Crawlers as the service keeps them: configurations, tasks, ledgers, and what gets published."""
