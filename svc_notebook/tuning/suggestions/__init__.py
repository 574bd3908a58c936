"""Suggestions from judgments and clicks: synonyms, rules and custom rankings, each measured."""
