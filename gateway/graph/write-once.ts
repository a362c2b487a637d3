import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLError,
  getOperationAST,
  type OperationDefinitionNode,
  print,
  valueFromASTUntyped,
} from 'graphql';
import type { Logger } from 'pino';
import { canonicalHash, canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { idempotencyKeyIn } from '../../schema/idempotency-key.ts';
import { jsonText } from '../../schema/json-text.ts';
import { limits } from '../../schema/limits.ts';
import { booksOf, type Principal } from '../../schema/principal.ts';
import type { ActAction } from '../../schema/session/act.ts';
import type { Context, NamedWrite } from '../../subgraphs/context.ts';
import { requireNotHalted } from '../../subgraphs/receipt/log/halt-guard.ts';
import {
  keepAnswer,
  releaseKey,
  requireKeyRoom,
  takeKeyOnWrite,
  writeStanding,
} from '../../subgraphs/receipt/written-once/written-once.ts';
import { fieldsIn, fragmentsOf } from './fragments.ts';
import type { Operation } from './source.ts';

/* Runs free mutations under the caller's Idempotency-Key. A repeated mutation is not executed again. */

/**
 * Mutations whose responses contain a secret that is shown once. A response that is stored under a key would show it again, so these take
 * no key.
 */
export const secretAnswers: ReadonlySet<string> = new Set([
  'createAssignment',
  'setWebhook',
  'rotateWebhookSecret',
  'rotateSession',
  'openRouterBook',
]);

/**
 * Acts that run once per key. All other acts only read, and their nonce already makes them run once for any sender, so they are not stored.
 */
const KEPT_ACTS: ReadonlySet<unknown> = new Set<ActAction>(['handoff', 'redeem', 'approve']);

/** Runs an operation once for its key, or returns the stored response. Without a key, or if the operation takes none, it runs as usual. */
export async function onceForKey(
  operation: Operation,
  logger: Logger,
  run: (operation: Operation) => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const context = operation.context as Context;
  const key = keyOf(operation, context);
  if (key === null) return run(operation);
  const { database, vault, response } = context;
  const named = namedWrite(key, operation, context);
  const standing = await writeStanding(database, named);
  if (standing.kind === 'answered') {
    // A halted log refuses stored responses too, because the row may come from a database that has gone back.
    requireNotHalted(database);
    response.headers['x-svc-settlement-status'] = 'idempotent_replay';
    return {
      data: markReplay(JSON.parse(vault.open(standing.answer_box, labelOf(named)).toString('utf8')) as JsonObject),
    };
  }
  if (standing.kind !== 'free') throw new Refusal(taken[standing.kind]);
  await requireKeyRoom(database, named);
  const result = await run({
    ...operation,
    context: { ...context, database: takeKeyOnWrite(database, named), named_write: named },
  });
  await afterwards(operation, result, named, logger);
  return result;
}

const taken = {
  foreign: 'idempotency_key_conflict',
  in_flight: 'idempotency_key_in_flight',
  gone: 'idempotency_answer_gone',
} as const;

/** The key under which the operation runs. Null if it has or takes none. @throws invalid_request if the header is not a valid key */
function keyOf(
  { document, operationName, variables }: Operation,
  { idempotency_key, principal }: Context,
): string | null {
  if (idempotency_key === null || principal.possession.kind === 'wrong') return null;
  const operation = getOperationAST(document, operationName ?? null);
  if (operation?.operation !== 'mutation') return null;
  const fields = mutationsIn(operation, document);
  const given = variablesOf(operation, variables ?? {});
  const excepted = fields.some(field => secretAnswers.has(field.name.value) || readsOnce(field, given));
  return fields.length === 0 || excepted ? null : idempotencyKeyIn(idempotency_key);
}

/** Root fields of a mutation, without GraphQL's own fields (`__typename`). */
function mutationsIn({ selectionSet }: OperationDefinitionNode, document: DocumentNode): readonly FieldNode[] {
  return fieldsIn(selectionSet, fragmentsOf(document)).filter(({ name }) => !name.value.startsWith('__'));
}

/** Variables of a request, with the defaults of omitted ones. */
function variablesOf({ variableDefinitions = [] }: OperationDefinitionNode, given: JsonMembers): JsonMembers {
  const defaults = variableDefinitions.flatMap(({ variable: { name }, defaultValue }) =>
    defaultValue && given[name.value] === undefined ? [[name.value, valueFromASTUntyped(defaultValue)]] : [],
  );
  return { ...given, ...Object.fromEntries(defaults) };
}

type JsonMembers = Readonly<Record<string, unknown>>;

/** Whether the field is an act that is not stored. The action is found in the document or in the variables. */
function readsOnce({ name, arguments: args = [] }: FieldNode, variables: JsonMembers): boolean {
  if (name.value !== 'actInSession') return false;
  const input = args.find(argument => argument.name.value === 'input');
  const act =
    input && (valueFromASTUntyped(input.value, variables) as { readonly action?: unknown } | null | undefined);
  return !KEPT_ACTS.has(act?.action);
}

/**
 * Defaults that are added to a request before it is hashed, because stored hashes contain them. Without them, a retry after an upgrade, or
 * at a process of the previous version, would count as another request. They can be removed once no process that set these defaults itself
 * has run for `limits.answer_kept_hours`.
 */
const hashedDefaults: Readonly<Record<string, JsonObject>> = {
  publish_book_export: { filter: {}, format: null, limit: null, subjectTaskId: null },
  set_agent_budget: { limit: limits.book_page_rows_default },
  take_down_board_comment: { agentId: null },
  take_down_board_post: { agentId: null },
};

/** Hash that identifies a request under its key. */
function hashOfWrite({ document, operationName, variables }: Operation, resource: string | undefined): string {
  const given = JSON.parse(jsonText(variables ?? {})) as JsonObject;
  if (resource === undefined)
    return canonicalHash({
      endpoint: { document: print(document), operation: operationName ?? null },
      variables: given,
    });
  const name = getOperationAST(document, operationName ?? null)?.name?.value ?? '';
  return canonicalHash({ endpoint: resource, variables: { ...hashedDefaults[name], ...given } });
}

function namedWrite(key: string, operation: Operation, context: Context): NamedWrite {
  const { vault, random, principal, resource } = context;
  const request_hash = hashOfWrite(operation, resource);
  const held = heldBy(principal);
  // Without credentials, the hash of the request is part of the identity, so that a guessed key does not find the response of another
  // caller.
  const by = credentialOf(principal) ?? request_hash;
  return {
    mark: vault.mark(canonicalJson([by, key]), 'written_once'),
    credential_mark: vault.mark(held ?? `address ${principal.address}`, 'written_once credential'),
    request_hash,
    attempt: Buffer.from(random.bytes(16)).toString('hex'),
  };
}

/** The caller's credentials as text. Null if none were shown, because the request itself opens the resource. */
function credentialOf({ possession, api_key, slice, ingest_key, board }: Principal): string | null {
  const shown = {
    agents: booksOf(possession).map(({ agent_id }) => agent_id),
    ...('hash' in api_key && { api_key: api_key.hash }),
    ...(slice?.kind === 'shown' && { slice: slice.token_hash }),
    ...(ingest_key?.kind === 'shown' && { ingest_key: ingest_key.token_hash }),
    ...(board && { board: Object.entries(board).flatMap(([name, standing]) => (standing === 'held' ? [name] : [])) }),
  };
  const { agents, board: secrets = [], ...others } = shown;
  const none = agents.length === 0 && secrets.length === 0 && Object.keys(others).length === 0;
  return none ? null : canonicalJson(shown as JsonObject);
}

/**
 * The verified credentials as text. Null if there are none. Slice tokens and router book ids are left out: anyone can make them up, and
 * only the resource checks whether one is valid, so until then they get no separate storage.
 */
const heldBy = ({ possession, api_key, address, board }: Principal): string | null =>
  credentialOf({ possession, api_key, address, board });

const labelOf = ({ mark }: NamedWrite) => `written_once ${mark}`;

/** Members by which a response states that it is a repetition. Set to true in a stored response. */
const SAYS_AGAIN = ['idempotentReplay', 'idempotent_replay'];

function markReplay(data: JsonObject): JsonObject {
  const settled = Object.entries(data).map(([name, answer]) => {
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return [name, answer];
    const says = SAYS_AGAIN.filter(member => member in answer).map(member => [member, true]);
    return [name, { ...answer, ...Object.fromEntries(says) }];
  });
  return Object.fromEntries(settled) as JsonObject;
}

/** Stores the response or releases the key. If this fails, the key stays taken: the write is kept and is not executed twice. */
async function afterwards(
  operation: Operation,
  { data, errors = [] }: ExecutionResult,
  named: NamedWrite,
  logger: Logger,
): Promise<void> {
  const { database, vault, principal } = operation.context as Context;
  try {
    if (errors.length === 0) {
      // Without credentials, only responses of requests that opened a resource are stored. Otherwise anyone could fill the storage.
      if (heldBy(principal) === null && !isCarriedOut(operation, data)) return;
      const text = jsonText(data ?? null);
      const box =
        Buffer.byteLength(text) <= limits.written_once_answer_bytes_max ? vault.seal(text, labelOf(named)) : null;
      await keepAnswer(database, named, box);
    } else if (errors.every(isTooLarge)) {
      await keepAnswer(database, named, null);
    } else if (nothingWasExecuted(data, errors)) await releaseKey(database, named);
  } catch (error) {
    logger.warn(
      { err: error },
      'a response could not be stored under its Idempotency-Key because of the error in err; a repeated request will not receive it, and nothing is written twice',
    );
  }
}

/** Whether one of the mutations returned a value. Skipped ones return nothing. */
function isCarriedOut({ document, operationName }: Operation, data: ExecutionResult['data']): boolean {
  const operation = getOperationAST(document, operationName ?? null);
  const fields = operation ? mutationsIn(operation, document) : [];
  return fields.some(({ alias, name }) => (data?.[(alias ?? name).value] ?? null) !== null);
}

/** Whether the error is a too large response. The whole request was executed then, and its response is unknown. */
const isTooLarge = ({ extensions: { code } }: GraphQLError) => code === 'answer_too_large';

/** Whether the whole request was refused, so that none of it was executed. */
function nothingWasExecuted(data: ExecutionResult['data'], errors: NonNullable<ExecutionResult['errors']>): boolean {
  const all_refused = errors.every(error => {
    const { status } = error.extensions;
    return !isTooLarge(error) && typeof status === 'number' && status < 500;
  });
  return all_refused && Object.values(data ?? {}).every(answer => answer === null);
}
