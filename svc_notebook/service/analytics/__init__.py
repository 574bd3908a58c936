"""Analytics: counted searches, their figures, and what is built from them."""
