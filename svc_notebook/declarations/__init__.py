"""The declaration of a public function, and what is made from it."""
