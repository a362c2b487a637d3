import { readFile } from 'node:fs/promises';
import { Supergraph } from '@apollo/federation-internals';
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  type ValidationRule,
} from 'graphql';
import type { Logger } from 'pino';
import { Refusal } from '../schema/errors.ts';
import type { Subgraph } from '../subgraphs/subgraph.ts';
import { apolloGateway, type ServerGateway } from './graph/apollo-gateway.ts';
import { Documents } from './graph/documents.ts';
import { Executor } from './graph/executor.ts';
import { InProcessSource, type Operation } from './graph/in-process-source.ts';
import { fragmentsOf, isPaid, type PaidFields, paidFieldStandsAlone, paidFields } from './graph/paid-rule.ts';
import { type Planned, Planner } from './graph/planner.ts';
import { publicError } from './graph/public-error.ts';
import { type Subscribed, subscribe } from './graph/subscriber.ts';

/** The federated graph: one planner and one executor behind REST, /graphql and the sockets alike. */
export interface Graph {
  /** What clients see. */
  readonly schema: GraphQLSchema;
  /** The same road, in the form that Apollo Server takes. */
  readonly gateway: ServerGateway;
  /** Beyond GraphQL's own. */
  readonly rules: readonly ValidationRule[];
  /** Root fields marked `@paid`, with their price in atomic USDC. */
  readonly paid: PaidFields;
  /** Kept by text. @throws GraphQLError */
  parse(text: string): DocumentNode;
  /** Remembered by document; empty where it is valid. */
  validate(document: DocumentNode): readonly GraphQLError[];
  isPaid(document: DocumentNode, operationName: string | null): boolean;
  /** Queries and mutations. Errors are in their public form (code, status, param and facts); never throws for a request. */
  execute(operation: Operation): Promise<ExecutionResult>;
  /** Ends when its reader calls return(); an event's missing parts are joined before it is handed on. */
  subscribe(operation: Operation): Promise<Subscribed>;
}

export interface GraphOptions {
  readonly logger: Logger;
  readonly introspection: boolean;
  /** Supergraph SDL; the committed one unless given. */
  readonly supergraph?: string;
}

export const SUPERGRAPH_FILE = new URL('../schema/supergraph.graphql', import.meta.url);

/** Opens the graph over subgraphs in this process. The supergraph is read, not composed: what runs is what was reviewed. */
export async function openGraph(subgraphs: readonly Subgraph[], options: GraphOptions): Promise<Graph> {
  const sdl = options.supergraph ?? (await readFile(SUPERGRAPH_FILE, 'utf8'));
  return new FederatedGraph(subgraphs, sdl, options);
}

class FederatedGraph implements Graph {
  readonly schema: GraphQLSchema;
  readonly gateway: ServerGateway;
  readonly rules: readonly ValidationRule[];
  readonly paid: PaidFields;
  readonly #documents: Documents;
  readonly #planner: Planner;
  readonly #executor: Executor;
  readonly #logger: Logger;

  constructor(subgraphs: readonly Subgraph[], sdl: string, { introspection, logger }: GraphOptions) {
    const supergraph = Supergraph.build(sdl, { validateSupergraph: false });
    const sources = new Map(subgraphs.map(({ name, schema }) => [name, new InProcessSource(schema)]));
    const api = supergraph.apiSchema();
    this.schema = api.toGraphQLJSSchema();
    this.paid = paidFields(supergraph.schema);
    this.rules = [paidFieldStandsAlone(this.paid), ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
    this.gateway = apolloGateway(this, sdl);
    this.#documents = new Documents(this.schema, this.rules);
    this.#planner = new Planner(supergraph, api, this.schema, sources);
    this.#executor = new Executor(supergraph, api, this.schema, sources, logger);
    this.#logger = logger;
  }

  parse(text: string): DocumentNode {
    return this.#documents.parse(text);
  }

  validate(document: DocumentNode): readonly GraphQLError[] {
    return this.#documents.validate(document);
  }

  isPaid(document: DocumentNode, operationName: string | null): boolean {
    const operation = getOperationAST(document, operationName);
    return operation !== null && operation !== undefined && isPaid(operation, fragmentsOf(document), this.paid);
  }

  async execute(operation: Operation): Promise<ExecutionResult> {
    return this.#run(operation, async planned => {
      if (planned.kind !== 'events' && planned.operation.operation !== 'subscription') {
        return this.#executor.execute(planned, operation);
      }
      throw new Refusal('invalid_request', {
        detail: this.isPaid(operation.document, operation.operationName ?? null)
          ? 'A paid stream is served by its REST door only.'
          : 'A subscription is served over a WebSocket (graphql-transport-ws) only.',
      });
    });
  }

  async subscribe(operation: Operation): Promise<Subscribed> {
    return this.#run<Subscribed>(operation, planned => subscribe(this.#executor, planned, operation));
  }

  async #run<T>(operation: Operation, then: (planned: Planned) => Promise<T>): Promise<T | ExecutionResult> {
    try {
      const faults = this.validate(operation.document);
      if (faults.length > 0) return this.#executor.published({ errors: faults });
      return await then(this.#planner.plan(operation.document, operation.operationName ?? null));
    } catch (error) {
      return { errors: [publicError(error, this.#logger)] };
    }
  }
}
