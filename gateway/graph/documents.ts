import { type DocumentNode, type GraphQLError, parse, specifiedRules, type ValidationRule, validate } from 'graphql';
import { LRUCache } from 'lru-cache';
import { limits } from '../../schema/limits.ts';
import { costRefusal, judgeCost, judgeShape } from './cost.ts';
import type { PricedGraph } from './supergraph.ts';

/** What is known of a document before its variables are. */
type Judged =
  /** Whatever the variables: their worst case is within. */
  | { readonly kind: 'within' }
  /** How many rows the variables ask for decides. */
  | { readonly kind: 'depends' }
  | { readonly kind: 'refused'; readonly refusal: GraphQLError };

export const validationOptions = { maxErrors: limits.graphql_faults_max, hideSuggestions: true } as const;

/**
 * Parsed and validated documents, so that equal texts share one document and its plan. Only what is valid is kept, the
 * one longest unused leaves first, and what is known of a document goes with it: nonsense pushes nothing out.
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
  readonly #judged = new WeakMap<DocumentNode, Judged>();
  readonly #verdicts = new WeakMap<DocumentNode, readonly GraphQLError[]>();

  constructor(priced: PricedGraph, rules: readonly ValidationRule[]) {
    this.#priced = priced;
    this.#rules = [...specifiedRules, ...rules];
  }

  /** @throws GraphQLError where the text is no GraphQL or too long. */
  parse(text: string): DocumentNode {
    const known = this.#kept.get(text);
    if (known) return known;
    const document = parse(text, { noLocation: true, maxTokens: limits.graphql_tokens_max });
    if (text.length <= limits.graphql_document_kept_chars_max) this.#texts.set(document, text);
    return document;
  }

  /** By its cost first: GraphQL's own rules take what time a document makes them take. */
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

  /** What it costs with these variables, where that is too much. Needs no validation before, and does none. */
  refusal(document: DocumentNode, variables: Readonly<Record<string, unknown>>): GraphQLError | null {
    const judged = this.#judge(document);
    if (judged.kind === 'refused') return judged.refusal;
    return judged.kind === 'within' ? null : costRefusal(judgeCost(document, this.#priced, variables));
  }

  #judge(document: DocumentNode): Judged {
    const known = this.#judged.get(document);
    if (known) return known;
    const judged = this.#weigh(document);
    this.#judged.set(document, judged);
    return judged;
  }

  #weigh(document: DocumentNode): Judged {
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
