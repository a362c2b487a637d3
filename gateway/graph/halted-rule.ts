import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  isNonNullType,
  OperationTypeNode,
} from 'graphql';
import type { Context } from '../../subgraphs/context.ts';
import { isHalted, RefusedWhileHalted } from '../../subgraphs/receipt/log/halt-guard.ts';
import { fieldsIn, fragmentsOf } from './fragments.ts';
import type { Operation } from './source.ts';

/*
 * Changes every response while the log is halted, on every transport, so that a new field needs no rule. The database may have gone back to
 * an older state: a missing record may have existed, and a list or a state may have lost later entries.
 */

/** Query fields that show the state of this process and not its records, or are null for a caller without credentials. */
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

/** Query fields whose records never change once they exist, or whose resolvers decide which records do. */
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

/**
 * Returns the result unchanged unless the log is halted. While it is halted, nothing is reported as missing, and no query returns data that
 * may be incomplete.
 */
export function answerWhileHalted(
  schema: GraphQLSchema,
  operation: Operation,
  result: ExecutionResult,
): ExecutionResult {
  const { database } = operation.context as Pick<Context, 'database'>;
  if (!isHalted(database)) return result;
  const errors = (result.errors ?? []).map(error => (isNotFound(error) ? unavailable(error) : error));
  const answered = { ...result, ...(errors.length > 0 && { errors }) };
  return withheld(schema, operation, answered);
}

/**
 * Whether an error reports a missing record. A missing model does not count, because models come from the hubs and not from the records.
 */
const isNotFound = ({ extensions: { status, code } }: GraphQLError) =>
  status === NOT_FOUND && code !== 'model_not_found';

/** The error of a halted log. It keeps `charged` of the replaced error. */
function unavailable({
  path,
  extensions: { charged } = {},
}: Pick<GraphQLError, 'path'> & Partial<GraphQLError>): GraphQLError {
  const { message, extensions } = new RefusedWhileHalted();
  return new GraphQLError(message, { path, extensions: { ...extensions, ...(charged !== undefined && { charged }) } });
}

/** Removes each root field of a query whose value may differ because the database has gone back, and adds an error for it. */
function withheld(schema: GraphQLSchema, operation: Operation, result: ExecutionResult): ExecutionResult {
  const { document, operationName } = operation;
  const node = getOperationAST(document, operationName ?? null);
  const { data, errors = [] } = result;
  if (node?.operation !== OperationTypeNode.QUERY || !data) return result;
  const refused = new Set(errors.map(({ path }) => path?.[0]));
  const fields = fieldsIn(node.selectionSet, fragmentsOf(document)).flatMap(({ alias, name }) => {
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

/**
 * Whether the value of a field is certain while the log is halted. Names that begin with an underscore are fields of GraphQL and
 * Federation.
 */
function isLasting(name: string, value: unknown): boolean {
  return name.startsWith('_') || ofProcess.has(name) || (lastingRecords.has(name) && value !== null);
}
