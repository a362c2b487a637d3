import type { GraphQLDataSource, GraphQLDataSourceProcessOptions } from '@apollo/gateway/dist/datasources/types.js';
import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema, parse, subscribe } from 'graphql';

export interface Operation {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: unknown;
}

/**
 * A subgraph that lives in this process. Apollo's own LocalGraphQLDataSource prints, parses and validates every
 * fetch anew; the planner's document is valid as it stands, and the context goes along as the same object.
 */
export class InProcessSource implements GraphQLDataSource {
  readonly schema: GraphQLSchema;

  constructor(schema: GraphQLSchema) {
    this.schema = schema;
  }

  async process(options: GraphQLDataSourceProcessOptions): ReturnType<GraphQLDataSource['process']> {
    const { request, context } = options;
    const planned = 'document' in options ? options.document : undefined;
    const document = planned ?? parse(request.query ?? '', { noLocation: true });
    return this.execute({
      document,
      operationName: request.operationName,
      variables: request.variables ?? {},
      context,
    });
  }

  async execute(operation: Operation): Promise<ExecutionResult> {
    return execute({ schema: this.schema, ...graphqlArguments(operation) });
  }

  async subscribe(operation: Operation): Promise<AsyncIterable<ExecutionResult> | ExecutionResult> {
    return subscribe({ schema: this.schema, ...graphqlArguments(operation) });
  }
}

function graphqlArguments({ document, operationName, variables, context }: Operation) {
  return { document, operationName, variableValues: variables, contextValue: context };
}
