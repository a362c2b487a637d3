import type { GraphQLDataSource } from '@apollo/gateway/dist/datasources/types.js';
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import type { Logger } from 'pino';
import { limits } from '../../schema/limits.ts';
import { EVENT_SOURCE, type PlannedOperation } from './owner.ts';
import type { Plans } from './plans.ts';
import { publicError } from './public-error.ts';
import { dataSource, type Operation, type Sources } from './source.ts';

/** Runs planned operations. The errors of its results are in their public form. */
export class Executor {
  readonly #schema: GraphQLSchema;
  readonly #sources: Readonly<Record<string, GraphQLDataSource>>;
  readonly #plans: Plans;
  readonly #logger: Logger;

  /** `schema` is the schema that clients see. */
  constructor(schema: GraphQLSchema, sources: Sources, plans: Plans, logger: Logger) {
    this.#schema = schema;
    this.#sources = Object.fromEntries([...sources].map(([name, source]) => [name, dataSource(source)]));
    this.#plans = plans;
    this.#logger = logger;
  }

  async execute(
    planned: Exclude<PlannedOperation, { kind: 'events' }>,
    operation: Operation,
  ): Promise<ExecutionResult> {
    // The owning subgraph runs the caller's own document, and checks the variables as `refuseVariables` would.
    if (planned.kind === 'direct') return this.publish(await planned.source.execute(operation));
    const refused = this.refuseVariables(planned.operation, operation.variables);
    if (refused) return refused;
    return this.#run(planned, operation, this.#sources);
  }

  /** Adds the fields of other subgraphs to an event. */
  async join(
    planned: Extract<PlannedOperation, { kind: 'events' }>,
    event: ExecutionResult,
    operation: Operation,
  ): Promise<ExecutionResult> {
    if (event.errors) return this.publish(event);
    const source: GraphQLDataSource = { process: async () => ({ data: event.data ?? null }) };
    return this.#run(planned, operation, { ...this.#sources, [EVENT_SOURCE]: source });
  }

  /**
   * The errors of invalid variables. Null if they are valid. Subgraphs check variables too; this check reports an error early and only
   * once.
   */
  refuseVariables(operation: OperationDefinitionNode, variables: Operation['variables']): ExecutionResult | null {
    const { errors } = getVariableValues(this.#schema, operation.variableDefinitions ?? [], variables, {
      maxErrors: limits.graphql_faults_max,
      hideSuggestions: true,
    });
    return errors ? this.publish({ errors }) : null;
  }

  publish(result: ExecutionResult): ExecutionResult {
    if (!result.errors) return result;
    return { ...result, errors: result.errors.map(error => publicError(error, this.#logger)) };
  }

  async #run(
    { plan, scope }: Exclude<PlannedOperation, { kind: 'direct' }>,
    operation: Operation,
    sources: Readonly<Record<string, GraphQLDataSource>>,
  ): Promise<ExecutionResult> {
    const { run } = await this.#plans.federation();
    return this.publish(withoutSilentNulls(await run({ plan, scope, operation, sources })));
  }
}

/**
 * Reports missing fields as errors. A missing non-null field of a joined entity makes its parent null, and Apollo reports that in
 * `extensions.valueCompletion` only. A client would take the null for a fact.
 */
function withoutSilentNulls(result: ExecutionResult): ExecutionResult {
  const missing = result.extensions?.valueCompletion as ExecutionResult['errors'];
  if (!missing) return result;
  // The message is wrapped as a cause, because it is an internal error, and the log should name the field.
  const errors = missing.map(
    ({ message, path }) => new GraphQLError(message, { path, originalError: new Error(message) }),
  );
  return { data: result.data ?? null, errors };
}
