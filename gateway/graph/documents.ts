import { type DocumentNode, type GraphQLError, parse, specifiedRules, type ValidationRule, validate } from 'graphql';
import { LRUCache } from 'lru-cache';
import { limits } from '../../schema/limits.ts';
import { costRefusal, judgeCost, judgeShape } from './cost.ts';
import type { PricedGraph } from './supergraph.ts';

/** Verdict on a document before its variables are known. */
type DocumentVerdict =
  /** The document is within the limits with any variables. */
  | { readonly kind: 'within' }
  /** The variables decide, because they contain the number of requested rows. */
  | { readonly kind: 'depends' }
  | { readonly kind: 'refused'; readonly refusal: GraphQLError };

export const validationOptions = { maxErrors: limits.graphql_faults_max, hideSuggestions: true } as const;

/**
 * Caches parsed and validated documents, so that equal texts share one document and its plan. Only valid documents are kept, so that
 * invalid ones displace nothing. The least recently used one is dropped first.
 */
export class Documents {
  readonly #priced: PricedGraph;
  readonly #rules: readonly ValidationRule[];
  readonly #kept = new LRUCache<string, DocumentNode>({
    max: limits.graphql_documents_kept_max,
    maxSize: limits.graphql_documents_kept_chars_max,
    sizeCalculation: (_, text) => text.length,
  });
  readonly #texts = new WeakMap<DocumentNode, string>();
  readonly #judged = new WeakMap<DocumentNode, DocumentVerdict>();
  readonly #verdicts = new WeakMap<DocumentNode, readonly GraphQLError[]>();

  constructor(priced: PricedGraph, rules: readonly ValidationRule[]) {
    this.#priced = priced;
    this.#rules = [...specifiedRules, ...rules];
  }

  /** Parses a text, or returns its cached document. @throws GraphQLError if the text is too long or not GraphQL */
  parse(text: string): DocumentNode {
    const known = this.#kept.get(text);
    if (known) return known;
    const document = parse(text, { noLocation: true, maxTokens: limits.graphql_tokens_max });
    if (text.length <= limits.graphql_document_kept_chars_max) this.#texts.set(document, text);
    return document;
  }

  /** Errors of a document. The cost is checked first, because some of GraphQL's own rules take quadratic time. */
  validate(document: DocumentNode): readonly GraphQLError[] {
    const known = this.#verdicts.get(document);
    if (known) return known;
    const judged = this.#judge(document);
    const verdict =
      judged.kind === 'refused'
        ? [judged.refusal]
        : validate(this.#priced.schema, document, this.#rules, validationOptions);
    this.#verdicts.set(document, verdict);
    if (verdict.length === 0) this.#keep(document);
    return verdict;
  }

  /**
   * The refusal of a document that costs too much with these variables. Null if it does not. It does not require validation and does not
   * include it.
   */
  refusal(document: DocumentNode, variables: Readonly<Record<string, unknown>>): GraphQLError | null {
    const judged = this.#judge(document);
    if (judged.kind === 'refused') return judged.refusal;
    return judged.kind === 'within' ? null : costRefusal(judgeCost(document, this.#priced, variables));
  }

  #judge(document: DocumentNode): DocumentVerdict {
    const known = this.#judged.get(document);
    if (known) return known;
    const judged = this.#weigh(document);
    this.#judged.set(document, judged);
    return judged;
  }

  #weigh(document: DocumentNode): DocumentVerdict {
    const shape = costRefusal(judgeShape(document));
    if (shape) return { kind: 'refused', refusal: shape };
    if (judgeCost(document, this.#priced, 'most').kind === 'within') return { kind: 'within' };
    const least = costRefusal(judgeCost(document, this.#priced, 'least'));
    return least ? { kind: 'refused', refusal: least } : { kind: 'depends' };
  }

  #keep(document: DocumentNode): void {
    const text = this.#texts.get(document);
    if (text !== undefined && !this.#kept.has(text)) this.#kept.set(text, document);
  }
}
