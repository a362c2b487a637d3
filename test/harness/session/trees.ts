import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { payingFetch } from '../buyer.ts';
import type { TestChain } from '../chain.ts';
import { ask, CHAT } from '../doors/open-service.ts';
import { openSocket } from '../doors/socket.ts';
import { type DelegatedSession, delegate, signRevocation } from './delegate.ts';

/* Trees of sessions at a running service. Payments bind them, a test follows them, and their payers revoke them. */

export interface ServiceAt {
  readonly url: string;
  readonly chain: Pick<TestChain, 'newWallet'>;
}
type At = Pick<ServiceAt, 'url'>;
type Account = ReturnType<typeof privateKeyToAccount>;

export interface BoundSession extends DelegatedSession {
  readonly payer: Account;
  /** Task of the payment that bound the session. */
  readonly task_id: string;
}

export const newKey = () => privateKeyToAccount(generatePrivateKey());
export const sessionPath = (hash: string, verb = '') => `/v1/sessions/${hash}${verb && `/${verb}`}`;

/** Members of a grant below that session, with the same limits. */
export function below({ grant: { capAtomic, validAfter, sessionExpiry }, delegation_hash }: DelegatedSession) {
  return { capAtomic, validAfter, sessionExpiry, parentDelegationHash: delegation_hash };
}

async function postJson(url: string, body: object, headers: object = {}, by = fetch) {
  const typed = { 'content-type': 'application/json', ...headers };
  const answer = await by(url, { method: 'POST', headers: typed, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as JsonObject;
}

/** Pays for a chat under a session. Returns its task. */
export async function payUnder(
  { url }: At,
  { payer, headers }: Pick<BoundSession, 'payer' | 'headers'>,
  words: string,
) {
  const { svc } = await postJson(url + CHAT, ask(words), headers, payingFetch(payer));
  return (svc as { readonly task_id: string }).task_id;
}

export async function bindRoot(
  at: At,
  payer: Account,
  more: Parameters<typeof delegate>[3] = {},
): Promise<BoundSession> {
  const session = { ...(await delegate(payer, payer, newKey(), more)), payer };
  return { ...session, task_id: await payUnder(at, session, `Binds ${session.delegation_hash}`) };
}

/** A bound child session. By default a new wallet pays for it. */
export async function bindChild(at: ServiceAt, parent: DelegatedSession, payer?: Account): Promise<BoundSession> {
  const paid_by = payer ?? (await at.chain.newWallet());
  const session = { ...(await delegate(parent.agent, paid_by, newKey(), below(parent))), payer: paid_by };
  return { ...session, task_id: await payUnder(at, session, `Binds ${session.delegation_hash}`) };
}

export async function revoke({ url }: At, payer: Account, { delegation_hash }: DelegatedSession): Promise<JsonObject> {
  return postJson(url + sessionPath(delegation_hash, 'revoke'), await signRevocation(payer, delegation_hash));
}

/** Sums of each session of a tree by its hash, as the payer's book shows them. */
export async function spendingIn({ url }: At, session: string, { delegation_hash }: DelegatedSession) {
  const query = `{ sessionTree(delegationHash: "${delegation_hash}") { sessions { delegationHash spentAtomic heldAtomic } } }`;
  const { data } = await postJson(`${url}/graphql`, { query }, { 'X-SVC-Session': session });
  const { sessions } = (data as unknown as { readonly sessionTree: { readonly sessions: SessionSpending[] } })
    .sessionTree;
  return new Map(sessions.map(({ delegationHash, ...sums }) => [delegationHash, sums]));
}

interface SessionSpending {
  readonly delegationHash: string;
  readonly spentAtomic: string;
  readonly heldAtomic: string;
}

const burnOf = ({ delegation_hash }: DelegatedSession) =>
  `subscription { sessionBurn(delegationHash: "${delegation_hash}", after: 0) { position taskId } }`;

/** Events of a session's spending so far, and how the subscription ended. `ended` is null until then. */
export interface BurnEvents {
  readonly tasks: string[];
  ended: unknown;
}

type Socket = ReturnType<typeof openSocket>;

/** Follows a session's spending over an open socket, which other subscriptions may share. */
export function followBurn(socket: Socket, session: DelegatedSession): BurnEvents {
  const heard: BurnEvents = { tasks: [], ended: null };
  const follow = async () => {
    for await (const { data, errors } of socket.each(burnOf(session))) {
      if (errors) throw errors;
      heard.tasks.push(taskIn(data));
    }
    return 'complete';
  };
  follow().then(
    end => (heard.ended = end),
    fault => (heard.ended = fault),
  );
  return heard;
}

/** Follows a session's spending over SSE. */
export async function followBurnInEvents(
  { url }: At,
  session: string,
  followed: DelegatedSession,
): Promise<BurnEvents> {
  const heard: BurnEvents = { tasks: [], ended: null };
  const answer = await fetch(`${url}/graphql/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'X-SVC-Session': session },
    body: JSON.stringify({ query: burnOf(followed) }),
  });
  expect(answer.status).toBe(200);
  const read = async () => {
    let rest = '';
    for await (const chunk of (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) addEvent(heard, event);
    }
  };
  // The service stops after the test and so breaks the stream, which is no failure.
  read().catch(() => {});
  return heard;
}

function addEvent(heard: BurnEvents, event: string): void {
  const data = /^event: next\ndata: (.*)$/s.exec(event)?.[1];
  const { data: told, errors } = data ? JSON.parse(data) : { data: null, errors: null };
  if (told?.sessionBurn) heard.tasks.push(taskIn(told));
  if (errors) heard.ended = errors;
}

function taskIn(data: unknown): string {
  return (data as { readonly sessionBurn: { readonly taskId: string } }).sessionBurn.taskId;
}
