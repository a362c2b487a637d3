import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  isNonNullType,
  OperationTypeNode,
} from 'graphql';
import type { Context } from '../../subgraphs/context.ts';
import { isHalted, RefusedWhileHalted } from '../../subgraphs/receipt/log/while-halted.ts';
import { fieldsIn, fragmentsOf } from './fragments.ts';
import type { Operation } from './source.ts';

/*
 * Asked of every answer while the log is halted, by whatever way it goes out, so that a new field needs no rule of its own. The database
 * may have gone back: what is not found may have been there, and a list or a state may have lost what came later.
 */

/** Of this process and not of its records, or null where a caller has shown nothing. */
const ofProcess: ReadonlySet<string> = new Set([
  'didDocument',
  'jwks',
  'logVerifierKeys',
  'model',
  'modelPage',
  'models',
  'sessionTypes',
  'viewer',
]);

/** Once they are there they never change, or their resolvers tell apart which of them do. */
const lastingRecords: ReadonlySet<string> = new Set([
  'agent',
  'boughtTask',
  'inclusionProof',
  'logEntryBundle',
  'logProof',
  'logTile',
  'paymentProof',
  'proveResult',
  'receipt',
  'refusal',
  'settlement',
  'taskStatus',
]);

const NOT_FOUND = 404;

/** The same result while the log is not halted. Else nothing of it is said to be missing, and no query answers what may be incomplete. */
export function toldWhileHalted(schema: GraphQLSchema, operation: Operation, result: ExecutionResult): ExecutionResult {
  const { database } = operation.context as Pick<Context, 'database'>;
  if (!isHalted(database)) return result;
  const errors = (result.errors ?? []).map(error => (isNotFound(error) ? unavailable(error) : error));
  const answered = { ...result, ...(errors.length > 0 && { errors }) };
  return withheld(schema, operation, answered);
}

/** Models are those of the hubs, whatever became of the records. */
const isNotFound = ({ extensions: { status, code } }: GraphQLError) =>
  status === NOT_FOUND && code !== 'model_not_found';

/** Whether it was charged stays said. */
function unavailable({
  path,
  extensions: { charged } = {},
}: Pick<GraphQLError, 'path'> & Partial<GraphQLError>): GraphQLError {
  const { message, extensions } = new RefusedWhileHalted();
  return new GraphQLError(message, { path, extensions: { ...extensions, ...(charged !== undefined && { charged }) } });
}

/** Each root field of a query that was answered, and may not have been if the database had not gone back. */
function withheld(schema: GraphQLSchema, operation: Operation, result: ExecutionResult): ExecutionResult {
  const { document, operationName } = operation;
  const asked = getOperationAST(document, operationName ?? null);
  const { data, errors = [] } = result;
  if (asked?.operation !== OperationTypeNode.QUERY || !data) return result;
  const refused = new Set(errors.map(({ path }) => path?.[0]));
  const fields = fieldsIn(asked.selectionSet, fragmentsOf(document)).flatMap(({ alias, name }) => {
    const key = (alias ?? name).value;
    const value = data[key];
    const stands = value === undefined || refused.has(key) || isLasting(name.value, value);
    return stands ? [] : [{ key, name: name.value }];
  });
  if (fields.length === 0) return result;
  const types = schema.getQueryType()?.getFields() ?? {};
  const whole = fields.some(({ name }) => isNonNullType(types[name]?.type));
  return {
    ...result,
    data: whole ? null : { ...data, ...Object.fromEntries(fields.map(({ key }) => [key, null])) },
    errors: [...errors, ...fields.map(({ key }) => unavailable({ path: [key] }))],
  };
}

/** What GraphQL and Federation answer by themselves begins with an underscore. */
function isLasting(name: string, value: unknown): boolean {
  return name.startsWith('_') || ofProcess.has(name) || (lastingRecords.has(name) && value !== null);
}
