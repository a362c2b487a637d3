import { type ExecutionResult, execute, type GraphQLSchema, subscribe } from 'graphql';
import { limits } from '../../schema/limits.ts';
import { isWritable } from '../../subgraphs/json-sql.ts';
import type { Subgraph } from '../../subgraphs/subgraph.ts';
import type { Operation, Source } from './source.ts';

/**
 * A subgraph that lives in this process. Apollo's own LocalGraphQLDataSource prints, parses and validates every
 * fetch anew; the planner's document is valid as it stands, and the context goes along as the same object.
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

/** What is said of variables that are at fault. */
const coercion = { hideSuggestions: true, options: { maxCoercionErrors: limits.graphql_faults_max } };

function graphqlArguments({ document, operationName, variables, context }: Operation) {
  return { document, operationName, variableValues: variables, contextValue: context };
}
