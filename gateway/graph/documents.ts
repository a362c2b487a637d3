import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { limits } from '../../schema/limits.ts';

/**
 * Parsed and validated documents, so that equal texts share one document and its plan.
 * Bounded: the oldest text leaves first, and what is known of a document goes with it.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #rules: readonly ValidationRule[];
  readonly #parsed = new Map<string, DocumentNode>();
  readonly #verdicts = new WeakMap<DocumentNode, readonly GraphQLError[]>();

  constructor(schema: GraphQLSchema, rules: readonly ValidationRule[]) {
    this.#schema = schema;
    this.#rules = [...specifiedRules, ...rules];
  }

  /** @throws GraphQLError where the text is no GraphQL or too long. */
  parse(text: string): DocumentNode {
    const known = this.#parsed.get(text);
    if (known) return known;
    const document = parse(text, { noLocation: true, maxTokens: limits.graphql_tokens_max });
    if (text.length <= limits.graphql_document_kept_chars_max) this.#keep(text, document);
    return document;
  }

  validate(document: DocumentNode): readonly GraphQLError[] {
    const known = this.#verdicts.get(document);
    if (known) return known;
    const verdict = validate(this.#schema, document, this.#rules);
    this.#verdicts.set(document, verdict);
    return verdict;
  }

  #keep(text: string, document: DocumentNode): void {
    if (this.#parsed.size >= limits.graphql_documents_kept_max) {
      for (const oldest of this.#parsed.keys()) {
        this.#parsed.delete(oldest);
        break;
      }
    }
    this.#parsed.set(text, document);
  }
}
