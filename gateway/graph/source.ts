import type { GraphQLDataSource } from '@apollo/gateway/dist/datasources/types.js';
import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema, parse, subscribe } from 'graphql';
import { limits } from '../../schema/limits.ts';
import { isWritable, type NullOmissions } from '../../subgraphs/json-sql.ts';
import type { Subgraph } from '../../subgraphs/subgraph.ts';

export interface Operation {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: unknown;
  /**
   * Set if the caller accepts parts of the response as Written text, with these nulls left out. If absent, the response has plain values
   * only.
   */
  readonly written?: NullOmissions;
}

/** Source of a subgraph's fields: this process or another. */
export interface Source {
  /** Schema of the subgraph. The planner uses it to check whether the subgraph can run a caller's own document. */
  readonly schema: GraphQLSchema;
  /** Runs a query or mutation. A refusal or an unreachable subgraph is an error in the result and is not thrown. */
  execute(operation: Operation): Promise<ExecutionResult>;
  subscribe(operation: Operation): Promise<AsyncIterable<ExecutionResult> | ExecutionResult>;
}

export type Sources = ReadonlyMap<string, Source>;

/** A source in the form that Apollo's executor calls. The executor's documents come from the planner and are valid. */
export function dataSource(source: Source): GraphQLDataSource {
  return {
    async process(options) {
      const { request, context } = options;
      const planned = 'document' in options ? options.document : undefined;
      const document = planned ?? parse(request.query ?? '', { noLocation: true });
      const { operationName, variables = {} } = request;
      return source.execute({ document, operationName, variables, context });
    },
  };
}

/**
 * A subgraph in this process. It is used in place of Apollo's own LocalGraphQLDataSource, which prints, parses and validates every fetch
 * again. The planner's document is valid, and the context is passed as the same object.
 */
export class InProcessSource implements Source {
  readonly schema: GraphQLSchema;
  readonly #written: GraphQLSchema;

  constructor({ schema, written }: Pick<Subgraph, 'schema' | 'written'>) {
    this.schema = schema;
    this.#written = written;
  }

  async execute(operation: Operation): Promise<ExecutionResult> {
    const written = operation.written && isWritable(operation.document);
    const means = written ? { schema: this.#written, rootValue: operation.written } : { schema: this.schema };
    return execute({ ...means, ...coercion, ...graphqlArguments(operation) });
  }

  async subscribe(operation: Operation): Promise<AsyncIterable<ExecutionResult> | ExecutionResult> {
    return subscribe({ schema: this.schema, ...graphqlArguments(operation) });
  }
}

/** Options of the errors for invalid variables. */
const coercion = { hideSuggestions: true, options: { maxCoercionErrors: limits.graphql_faults_max } };

function graphqlArguments({ document, operationName, variables, context }: Operation) {
  return { document, operationName, variableValues: variables, contextValue: context };
}
