import { type DocumentNode, type GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import { LRUCache } from 'lru-cache';

const KEPT_MAX = 2_000;
const KEPT_CHARS_MAX = 64 * 1024;

export type Query =
  | { readonly kind: 'valid'; readonly document: DocumentNode }
  | { readonly kind: 'invalid'; readonly errors: readonly GraphQLError[] };

/**
 * What a gateway has asked, by its text: it plans each document once and sends the same text ever after. Validated all the
 * same, since a gateway of another version would otherwise have fields left out without a word.
 */
export class KnownQueries {
  readonly #schema: GraphQLSchema;
  readonly #known = new LRUCache<string, Query>({ max: KEPT_MAX });

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** @throws GraphQLError where the text is no GraphQL */
  read(text: string): Query {
    const known = this.#known.get(text);
    if (known) return known;
    const document = parse(text, { noLocation: true });
    const errors = validate(this.#schema, document);
    const query: Query = errors.length > 0 ? { kind: 'invalid', errors } : { kind: 'valid', document };
    if (text.length <= KEPT_CHARS_MAX) this.#known.set(text, query);
    return query;
  }
}
