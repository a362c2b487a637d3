import { readFile } from 'node:fs/promises';
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type ValidationRule,
} from 'graphql';
import type { Logger } from 'pino';
import { Refusal } from '../../schema/errors.ts';
import { SUPERGRAPH_FILE } from '../../schema/supergraph.ts';
import { requireOneBook } from '../../subgraphs/access.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Subgraph } from '../../subgraphs/subgraph.ts';
import { withinAnswerSize } from './answer-size.ts';
import { Documents } from './documents.ts';
import { Executor } from './executor.ts';
import { answerWhileHalted } from './halted-rule.ts';
import type { PlannedOperation } from './owner.ts';
import { Plans } from './plans.ts';
import { publicError } from './public-error.ts';
import { InProcessSource, type Operation, type Source } from './source.ts';
import { type SubscribeResult, subscribe } from './subscribe.ts';
import {
  fieldCosts,
  type LiveFields,
  liveFields,
  type PaidFields,
  paidField,
  paidFieldStandsAlone,
  paidFields,
  publicSchema,
} from './supergraph.ts';
import { judgeVariables, variablesRefusal, wantsLongText } from './variables-rule.ts';
import { onceForKey } from './write-once.ts';
import { type ProofWrites, requireLeave } from './write-rule.ts';

/** The federated graph: one planner and one executor for REST, /graphql and sockets. */
export interface Graph {
  /** The schema that clients see. */
  readonly schema: GraphQLSchema;
  /** SDL with which the graph was opened. */
  readonly supergraph: string;
  /** Validation rules in addition to GraphQL's own. */
  readonly rules: readonly ValidationRule[];
  /** Root fields marked `@paid`, with their price in atomic USDC. */
  readonly paid: PaidFields;
  /** Subscription fields marked `@live`. */
  readonly live: LiveFields;
  /** Parses a document. Results are cached by text. @throws GraphQLError */
  parse(text: string): DocumentNode;
  /** Errors of a document; empty if it is valid. Results are cached by document. A document that is too expensive is not validated. */
  validate(document: DocumentNode): readonly GraphQLError[];
  /**
   * The refusal of a document that is too expensive or has too large variables, found without validation, plan or database. Null if there
   * is none.
   */
  refusal(request: DocumentRequest): GraphQLError | null;
  isPaid(document: DocumentNode, operationName: string | null): boolean;
  /** Coordinate of the field that the operation pays for. Null if the operation is free. */
  paidField(document: DocumentNode, operationName: string | null): string | null;
  /** Runs queries and mutations. Errors are in their public form (code, status, param and facts). A request never makes it throw. */
  execute(operation: Operation): Promise<ExecutionResult>;
  /**
   * Runs a subscription. Each event is joined with its fields of other subgraphs before it is passed on. The subscription ends when its
   * reader calls return().
   */
  subscribe(operation: Operation): Promise<SubscribeResult>;
  /**
   * Prepares the planner for operations over several subgraphs. The preparation has steps that each block the process; `rest` is awaited
   * before each step.
   */
  prepare(rest: () => Promise<void>): Promise<void>;
}

/** A document with its variables and operation name. */
export interface DocumentRequest {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface GraphOptions {
  readonly logger: Logger;
  readonly introspection: boolean;
  /** Proofs that may write. Default: `plain`. */
  readonly proof_writes?: ProofWrites;
  /** SDL of the supergraph. Default: the committed supergraph. */
  readonly supergraph?: string;
  /** Source of a subgraph's fields. Default: this process. */
  readonly sourceOf?: (subgraph: Subgraph, paid: PaidFields) => Source;
}

/**
 * Opens the graph over local and remote subgraphs. The supergraph is read from a file and not composed at the start, so that the graph that
 * runs is the one that was reviewed.
 */
export async function openGraph(subgraphs: readonly Subgraph[], options: GraphOptions): Promise<Graph> {
  const sdl = options.supergraph ?? (await readFile(SUPERGRAPH_FILE, 'utf8'));
  return new FederatedGraph(subgraphs, sdl, options);
}

const inProcess = (subgraph: Subgraph): Source => new InProcessSource(subgraph);

/** A supergraph in the form that clients see, with the cache of its documents. */
interface ReadGraph extends Pick<Graph, 'schema' | 'supergraph' | 'rules' | 'paid' | 'live'> {
  readonly introspection: boolean;
  readonly documents: Documents;
}

/** The last graph that was read. Gateways in one process share it, because it depends on no gateway. */
let last_read: ReadGraph | null = null;

function readGraph(supergraph: string, introspection: boolean): ReadGraph {
  if (last_read?.supergraph === supergraph && last_read.introspection === introspection) return last_read;
  const schema = publicSchema(supergraph);
  const paid = paidFields(schema);
  const rules = [paidFieldStandsAlone(paid), ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
  const documents = new Documents({ schema, costs: fieldCosts(schema) }, rules);
  last_read = { supergraph, introspection, schema, paid, live: liveFields(schema, paid), rules, documents };
  return last_read;
}

class FederatedGraph implements Graph {
  readonly schema: GraphQLSchema;
  readonly supergraph: string;
  readonly rules: readonly ValidationRule[];
  readonly paid: PaidFields;
  readonly live: LiveFields;
  readonly #documents: Documents;
  readonly #plans: Plans;
  readonly #executor: Executor;
  readonly #logger: Logger;
  readonly #proof_writes: ProofWrites;
  /** The paid field of each operation. It is needed three times per call, and never changes for a document. */
  readonly #bought = new WeakMap<OperationDefinitionNode, { readonly field: string | null }>();

  constructor(
    subgraphs: readonly Subgraph[],
    sdl: string,
    { introspection, logger, proof_writes = 'plain', sourceOf = inProcess }: GraphOptions,
  ) {
    const { schema, rules, paid, live, documents } = readGraph(sdl, introspection);
    const sources = new Map(subgraphs.map(subgraph => [subgraph.name, sourceOf(subgraph, paid)]));
    this.schema = schema;
    this.supergraph = sdl;
    this.rules = rules;
    this.paid = paid;
    this.live = live;
    this.#documents = documents;
    this.#plans = new Plans({ supergraph: sdl, schema, sources, logger });
    this.#executor = new Executor(schema, sources, this.#plans, logger);
    this.#logger = logger;
    this.#proof_writes = proof_writes;
  }

  parse(text: string): DocumentNode {
    return this.#documents.parse(text);
  }

  validate(document: DocumentNode): readonly GraphQLError[] {
    return this.#documents.validate(document);
  }

  refusal({ document, operationName, variables }: DocumentRequest): GraphQLError | null {
    const costly = this.#documents.refusal(document, variables);
    if (costly) return costly;
    // Longer variables are allowed for paid fields, because they take chats.
    const name = operationName ?? null;
    const long = this.isPaid(document, name) || wantsLongText(document, name);
    return variablesRefusal(judgeVariables(variables, long));
  }

  isPaid(document: DocumentNode, operationName: string | null): boolean {
    return this.paidField(document, operationName) !== null;
  }

  paidField(document: DocumentNode, operationName: string | null): string | null {
    const operation = getOperationAST(document, operationName);
    if (!operation) return null;
    const known = this.#bought.get(operation);
    if (known) return known.field;
    const field = paidField(document, operation, this.paid);
    this.#bought.set(operation, { field });
    return field;
  }

  async execute(operation: Operation): Promise<ExecutionResult> {
    const execute = async (planned: PlannedOperation, operation: Operation) => {
      if (planned.kind !== 'events' && planned.operation.operation !== 'subscription') {
        // The size is checked before the response is stored under an Idempotency-Key.
        return withinAnswerSize(await this.#executor.execute(planned, operation), operation.context as Context);
      }
      throw new Refusal('invalid_request', {
        detail: this.isPaid(operation.document, operation.operationName ?? null)
          ? 'A paid stream is served by its REST endpoint only.'
          : 'A subscription is served over a WebSocket (graphql-transport-ws), or in events (SSE) to a request with Accept: text/event-stream.',
      });
    };
    // A paid operation needs no Idempotency-Key, because its claim makes it run once.
    const paid = this.isPaid(operation.document, operation.operationName ?? null);
    const result = await this.#run(operation, execute, (admitted, run) =>
      paid ? run(admitted) : onceForKey(admitted, this.#logger, run),
    );
    return answerWhileHalted(this.schema, operation, result);
  }

  async subscribe(operation: Operation): Promise<SubscribeResult> {
    const result = await this.#run<SubscribeResult>(operation, (planned, operation) =>
      subscribe(this.#executor, planned, operation),
    );
    return Symbol.asyncIterator in result ? result : answerWhileHalted(this.schema, operation, result);
  }

  async prepare(rest: () => Promise<void>): Promise<void> {
    await this.#plans.federation(rest);
  }

  /** Authorizes an operation of any transport. A paid operation runs under one book. */
  async #admitted({ operation: { operation: kind } }: PlannedOperation, operation: Operation): Promise<Operation> {
    const paid = this.isPaid(operation.document, operation.operationName ?? null);
    const asking = operation.context as Context;
    const context = paid ? { ...asking, principal: requireOneBook(asking.principal) } : asking;
    await requireLeave({ kind, paid }, context, this.#proof_writes);
    return { ...operation, context };
  }

  async #run<T>(
    operation: Operation,
    then: (planned: PlannedOperation, admitted: Operation) => Promise<T>,
    /** Runs before authorization, because a stored response was returned to this caller before. */
    before: (operation: Operation, run: (operation: Operation) => Promise<T>) => Promise<T> = (admitted, run) =>
      run(admitted),
  ): Promise<T | ExecutionResult> {
    try {
      const faults = this.validate(operation.document);
      if (faults.length > 0) return this.#executor.publish({ errors: faults });
      const costly = this.#documents.refusal(operation.document, operation.variables);
      if (costly) return this.#executor.publish({ errors: [costly] });
      const planned = await this.#plans.plan(operation.document, operation.operationName ?? null);
      return await before(operation, async admitted => then(planned, await this.#admitted(planned, admitted)));
    } catch (error) {
      return { errors: [publicError(error, this.#logger)] };
    }
  }
}
