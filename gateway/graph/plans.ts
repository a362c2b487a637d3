import { type DocumentNode, getOperationAST } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import type { Federation, FederationParts } from './federation.ts';
import { borrows, ownerOf, type PlannedOperation } from './owner.ts';

/**
 * Keeps one plan per document and operation, for as long as the document is cached. Apollo's libraries take as long to load and to read the
 * supergraph as the rest of a start. So they are loaded after the start, or by the first request that needs a plan.
 */
export class Plans {
  readonly #parts: FederationParts;
  readonly #borrows: boolean;
  readonly #plans = new WeakMap<DocumentNode, Map<string, PlannedOperation>>();
  #opening: Generator<void, Federation> | null = null;
  #federation: Federation | null = null;

  constructor(parts: FederationParts) {
    this.#parts = parts;
    this.#borrows = borrows(parts.supergraph);
  }

  /** Plans an operation of a valid document. @throws Refusal if the document has no such operation or is too large to plan */
  async plan(document: DocumentNode, operationName: string | null): Promise<PlannedOperation> {
    const known = this.#plans.get(document)?.get(operationName ?? '');
    if (known) return known;
    const operation = getOperationAST(document, operationName);
    if (!operation)
      throw new Refusal('invalid_request', {
        detail:
          'operationName must name an operation of the document; it can be left out only if there is exactly one.',
      });
    const source = this.#borrows ? null : ownerOf(document, operation, this.#parts.sources);
    const planned: PlannedOperation = source
      ? { kind: 'direct', operation, source }
      : (await this.federation()).planner.plan(document, operationName ?? undefined, operation);
    const plans = this.#plans.get(document) ?? new Map<string, PlannedOperation>();
    this.#plans.set(document, plans.set(operationName ?? '', planned));
    return planned;
  }

  /** Opens Apollo's libraries once. `rest` is awaited before each step that blocks the process, so that waiting calls can run. */
  async federation(rest: () => Promise<unknown> = () => new Promise(setImmediate)): Promise<Federation> {
    while (this.#federation === null) {
      await rest();
      const { openFederation } = await import('./federation.ts');
      await rest();
      // Another request may have finished the preparation during the pause.
      if (this.#federation !== null) break;
      this.#opening ??= openFederation(this.#parts);
      this.#step(this.#opening);
    }
    return this.#federation;
  }

  #step(opening: Generator<void, Federation>): void {
    try {
      const { done, value } = opening.next();
      if (done) this.#federation = value;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }
}
