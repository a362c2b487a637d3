import { bestLiked } from '../../rest-compat/http/accept.ts';

/** What an answer of GraphQL over HTTP may be called; the usual one first. */
export const jsonMedia = ['application/json', 'application/graphql-response+json'] as const;

/** The one that a request likes best; the usual one where it takes neither, as of a refusal that has to be told. */
export function jsonMediaFor(accepted: string | undefined): (typeof jsonMedia)[number] {
  return bestLiked(accepted, jsonMedia) ?? jsonMedia[0];
}
