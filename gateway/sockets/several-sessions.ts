import {
  type ExecutionResult,
  type GraphQLSchema,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
} from 'graphql';
import { sha256Hex } from '../../schema/digest.ts';
import { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { booksOf, type HeldBook, type Principal } from '../../schema/principal.ts';
import { fieldsIn, fragmentsOf } from '../graph/fragments.ts';
import type { ShownCredentials } from '../graph/identify.ts';
import type { AskedDocument } from '../graph/open-graph.ts';
import type { Line } from './delivery.ts';

/* A subscription among those of a caller who shows several sessions: what it rests on, and how it ends with that. */

/**
 * Whoever follows one book of several does so by its session alone: then all who follow it share its events, and no end of
 * another session touches it. What names no book rests on every session that was shown.
 */
export function underItsBook(schema: GraphQLSchema, asked: AskedDocument, principal: Principal): Principal {
  if (principal.possession.kind !== 'several') return principal;
  const agent_id = followedBook(schema, asked);
  const held = booksOf(principal.possession).find(book => book.agent_id === agent_id);
  return held ? { ...principal, possession: { kind: 'proven', ...held } } : principal;
}

/** The `agentId` of the one field of a subscription; null where there is none. */
function followedBook(schema: GraphQLSchema, { document, operationName, variables }: AskedDocument): number | null {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== 'subscription') return null;
  const [node] = fieldsIn(operation.selectionSet, fragmentsOf(document));
  const field = node && schema.getSubscriptionType()?.getFields()[node.name.value];
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (!field || !coerced) return null;
  try {
    const { agentId } = getArgumentValues(field, node, coerced);
    return typeof agentId === 'number' ? agentId : null;
  } catch {
    // It is told what is wrong with it when it runs.
    return null;
  }
}

/** Of an operation that may end before its line does. */
export interface Resting {
  /** Aborted once one of the sessions has ended that it rests on. */
  readonly ended: AbortSignal;
  release(): void;
}

/**
 * The same events until a session has ended that they rest on: then `forbidden`, whatever they wait for. Each is raced
 * with a promise of its own: one that outlives them would remember all that were raced with it.
 */
export function whileResting(
  events: AsyncIterableIterator<ExecutionResult>,
  { ended, release }: Resting,
): AsyncIterableIterator<ExecutionResult> {
  let refuse: (fault: Refusal) => void = () => {};
  const over = () => {
    leave();
    refuse(new Refusal('forbidden'));
    events.return?.().catch(() => {});
  };
  const leave = () => {
    ended.removeEventListener('abort', over);
    release();
  };
  const done = async (): Promise<IteratorResult<ExecutionResult>> => {
    leave();
    await events.return?.();
    return { done: true, value: undefined };
  };
  ended.addEventListener('abort', over);
  return {
    async next() {
      try {
        if (ended.aborted) throw new Refusal('forbidden');
        const refused = Promise.withResolvers<never>();
        refuse = refused.reject;
        const event = await Promise.race([events.next(), refused.promise]);
        if (event.done) leave();
        return event;
      } catch (fault) {
        leave();
        throw fault;
      }
    },
    return: done,
    throw: done,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** A socket that showed sessions, and what goes where one of several ends. */
export interface SessionSocket {
  readonly line: Line;
  /** At connection_init. Kept, because whoever was let in may be locked out while the socket is open. */
  shown: ShownCredentials;
  /** Null until the session has been looked up: until then it may be anybody's. */
  agent_ids: ReadonlySet<AgentId> | null;
  /** Hashes of those of several sessions that have ended. */
  readonly ended: Set<string>;
  /** Operations, with the hashes of the sessions that each rests on, where there are several. */
  readonly resting: Map<AbortController, readonly string[]>;
  /** While it is held back: resolves when the socket has been looked at, and is closed or free again. */
  held: Promise<void> | null;
  /** What was looked up may be out of date: once more. */
  again: boolean;
}

export function isOfSeveral({ sessions, of_several = false }: ShownCredentials): boolean {
  return sessions.length > 1 || of_several;
}

/** Ended from the start where a session has ended since its caller was looked up. */
export function rest({ resting, ended }: SessionSocket, hashes: readonly string[]): Resting {
  const operation = new AbortController();
  resting.set(operation, hashes);
  if (hashes.some(hash => ended.has(hash))) operation.abort();
  return { ended: operation.signal, release: () => void resting.delete(operation) };
}

/** Lets go of those of several sessions that have ended, and ends what rests on them. False where all or none have. */
export async function letGo(
  possessed: SessionSocket,
  held: (session: string) => Promise<HeldBook | null>,
): Promise<boolean> {
  const { shown } = possessed;
  if (shown.sessions.length < 2) return false;
  const books = await Promise.all(shown.sessions.map(session => held(session)));
  const left = shown.sessions.filter((_, index) => books[index] !== null);
  if (left.length === 0 || left.length === shown.sessions.length) return false;
  possessed.shown = { ...shown, sessions: left, of_several: true };
  for (const session of shown.sessions) if (!left.includes(session)) possessed.ended.add(sha256Hex(session));
  for (const [operation, hashes] of possessed.resting)
    if (hashes.some(hash => possessed.ended.has(hash))) operation.abort();
  return true;
}
