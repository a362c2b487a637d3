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
import type { DocumentRequest } from '../graph/open-graph.ts';
import type { Line } from './delivery.ts';

/* Subscriptions of a caller with several sessions: which sessions a subscription depends on, and how it ends with one of them. */

/**
 * The caller of a request. A subscription to one book uses only the session of that book, so that all its subscribers share its events, and
 * the end of another session does not affect it. A subscription without a book depends on every session.
 */
export function callerForBook(schema: GraphQLSchema, request: DocumentRequest, principal: Principal): Principal {
  if (principal.possession.kind !== 'several') return principal;
  const agent_id = followedBook(schema, request);
  const held = booksOf(principal.possession).find(book => book.agent_id === agent_id);
  return held ? { ...principal, possession: { kind: 'proven', ...held } } : principal;
}

/** The `agentId` of the only field of a subscription. Null if there is none. */
function followedBook(schema: GraphQLSchema, { document, operationName, variables }: DocumentRequest): number | null {
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
    // Invalid arguments are reported when the subscription runs.
    return null;
  }
}

/** An operation that may end before its connection. */
export interface SessionLifetime {
  /** Aborted once a session that it depends on has ended. */
  readonly ended: AbortSignal;
  release(): void;
}

/**
 * Passes on the events until a session that they depend on has ended, and then throws `forbidden`, even while waiting. Each event is raced
 * with a new promise, because a longer-lived promise would keep everything that was raced with it.
 */
export function eventsWhileBound(
  events: AsyncIterableIterator<ExecutionResult>,
  { ended, release }: SessionLifetime,
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

/** A socket with sessions or a proof, and its operations if it has several sessions. */
export interface SessionSocket {
  readonly line: Line;
  /** Credentials from connection_init. They are kept, because the session may end while the socket is open. */
  shown: ShownCredentials;
  /** Agents of the sessions. Null until the sessions are looked up; until then they may belong to any agent. */
  agent_ids: ReadonlySet<AgentId> | null;
  /** Hashes of those of several sessions that have ended. */
  readonly ended: Set<string>;
  /** Operations with the hashes of the sessions that they depend on, if the socket has several sessions. */
  readonly resting: Map<AbortController, readonly string[]>;
  /** Set while the socket is held back. Resolves when it was checked, and is closed or released. */
  held: Promise<void> | null;
  /** True if the last look-up may be out of date and must run again. */
  again: boolean;
}

export function hasSeveralSessions({ sessions, of_several = false }: ShownCredentials): boolean {
  return sessions.length > 1 || of_several;
}

/** Begins the lifetime of an operation. It has ended from the start if one of its sessions has ended since the caller was looked up. */
export function bindToSessions({ resting, ended }: SessionSocket, hashes: readonly string[]): SessionLifetime {
  const operation = new AbortController();
  resting.set(operation, hashes);
  if (hashes.some(hash => ended.has(hash))) operation.abort();
  return { ended: operation.signal, release: () => void resting.delete(operation) };
}

/** Removes the sessions that have ended, and ends the operations that depend on them. False if all or none have ended. */
export async function dropEndedSessions(
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
