"""Texts in messages of the local service that clients look for."""

from __future__ import annotations

# The start of a note about the mode `neuralSearch` in the member `message` of a response.
NEURAL_MESSAGE = "neuralSearch: "
# Part of such a note while a later search will have more semantic hits.
VECTORS_PENDING = "vectors are being computed"
# Part of a message while the tables of the word forms of some languages are built.
FORMS_PENDING = "are being prepared; until then only regular endings count"
# Part of a message where the dictionary of a language of the index is not installed.
WORDS_MISSING = "are not separated: the service needs the extra `languages`"
# The message of a 404 for a record or rule that does not exist.
OBJECT_MISSING = "ObjectID does not exist"
# The message of a 404 for a synonym that does not exist.
SYNONYM_MISSING = "Synonym set does not exist"
# The message of a 404 for the settings of an index that does not exist.
INDEX_MISSING = "Index does not exist"
# The start of a note that all hits of a page are beyond `paginationLimitedTo`.
PAGINATION_MESSAGE = "you can only fetch the "
