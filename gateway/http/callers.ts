/** The caller and the payment of a request, the same for REST endpoints, `/graphql` and sockets. */
import type { FastifyRequest } from 'fastify';
import { credentialsIn, paymentIn } from '../../rest-compat/credentials.ts';
import type { Port } from '../../rest-compat/port.ts';
import type { Principal } from '../../schema/principal.ts';
import type { BoardContext } from '../../subgraphs/board/context.ts';
import { openBoardEvents } from '../../subgraphs/board/event/read.ts';
import { jobPaidBy } from '../../subgraphs/board/job/paid-by.ts';
import type { BookContext } from '../../subgraphs/book/context.ts';
import { openBookEvents } from '../../subgraphs/book/page/page.ts';
import type { ChargePort } from '../../subgraphs/charge-port.ts';
import { systemRandom } from '../../subgraphs/clock.ts';
import { type CallHeaders, ResponseHeaders } from '../../subgraphs/context.ts';
import { findTask } from '../../subgraphs/receipt/claim/task-status.ts';
import type { ReceiptContext } from '../../subgraphs/receipt/context.ts';
import type { InferenceContext } from '../../subgraphs/receipt/inference/context.ts';
import { openHubHosts } from '../../subgraphs/receipt/inference/hubs/hosts.ts';
import { requireNotHalted, whenHalted } from '../../subgraphs/receipt/log/halt-guard.ts';
import type { KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import { walletOfAgent } from '../../subgraphs/session/agent/find.ts';
import type { SessionContext } from '../../subgraphs/session/context.ts';
import { openSessionBurns } from '../../subgraphs/session/delegation/session-burns.ts';
import { bookOfSession, sealDecoy } from '../../subgraphs/session/possession/check.ts';
import { Uploads } from '../../subgraphs/uploads.ts';
import type { Judge } from '../call/judge.ts';
import type { Config } from '../config/read-config.ts';
import { identify, openBoardKeys, openKeyring, provenOnGraphql, type ShownCredentials } from '../graph/identify.ts';
import type { Graph } from '../graph/open-graph.ts';
import { openWitnesses } from '../log/cosigning.ts';
import type { PaidCalls } from '../operations/paid-calls.ts';
import { openFailedLooks, openFreeUses, openFreeWallets, type Rates, requireWithin } from '../rates/rates.ts';
import { keepProof } from '../sockets/keep-proof.ts';
import type { SocketCallers } from '../sockets/session-sockets.ts';
import type { PayTo } from '../x402/offer.ts';
import { presentedIn } from '../x402/payment-header.ts';
import { paidFieldOf } from './graphql-request.ts';
import type { GraphqlOptions } from './serve-graphql.ts';

/** All services of this process that a resolver of any subgraph may use. */
type EveryContext = ReceiptContext & InferenceContext & BookContext & SessionContext & BoardContext;
export type EveryService = Omit<EveryContext, 'principal' | 'response' | keyof CallHeaders>;

export interface OpenedServices
  extends Pick<
    EveryService,
    | 'database'
    | 'live'
    | 'vault'
    | 'issuer'
    | 'hubs'
    | 'wallets'
    | 'transfers'
    | 'payout_accounts'
    | 'payment_index'
    | 'reports'
    | 'hand_offs'
    | 'completions'
    | 'router_look_ups'
    | 'clock'
  > {
  readonly log: { readonly known: Pick<KnownLog, 'heads'> };
  readonly pay_to: PayTo;
  readonly rates: Rates;
}

type PaymentServices = ChargePort & Pick<ReceiptContext, 'cancelTask'> & Pick<SessionContext, 'refusalOfAct'>;

/** Builds the services from the parts that were opened. `paid_calls` counts the charges. */
export function servicesOf(
  { base_url, base_urls, profile, log_entries, webhook_reach, witnesses, router }: Config,
  { log, pay_to, rates, ...opened }: OpenedServices,
  { charge, chargeStream, chargeLegs, cancelTask, refusalOfAct }: PaymentServices,
  paid_calls: PaidCalls,
): EveryService {
  return {
    ...opened,
    treasuries: pay_to,
    failed_looks: openFailedLooks(rates.ingests),
    free_wallets: openFreeWallets(opened.wallets, openFreeUses(rates)),
    uploads: new Uploads(),
    random: systemRandom,
    charge: paid_calls.charge(charge),
    chargeStream: paid_calls.chargeStream(chargeStream),
    chargeLegs: paid_calls.chargeLegs(chargeLegs),
    cancelTask,
    refusalOfAct,
    base_url,
    base_urls,
    profile,
    log_entries,
    webhook_reach,
    witnesses: openWitnesses(witnesses).map(({ key }) => key),
    newestSize: () => log.known.heads().at(-1)?.tree_size ?? null,
    readBookEvents: openBookEvents(opened.database),
    ...openHubHosts(opened.hubs.settings, router),
    readBoardEvents: openBoardEvents(opened.database),
    readSessionBurns: openSessionBurns(opened.database),
    jobPaidBy,
    walletOfAgent: agent_id => walletOfAgent(opened.database, agent_id),
    findTask: task_id => findTask(opened.database, base_url, task_id),
  };
}

/** Checks the value of payments, and limits the rate of free requests. */
interface Bounds {
  readonly judge: Judge;
  readonly rates: Port['rates'];
}

export interface Callers {
  /** Identifies the caller by credentials. `pays` is true if a payment has proven its payer. @throws rate_limited */
  identify(shown: ShownCredentials, pays: boolean): Promise<Principal>;
  /** Creates the context of all resolvers. */
  createContext(principal: Principal, brought: CallHeaders): EveryContext;
}

export function openCallers(
  { api_keys, demo_keys, waiver_keys, ...config }: Config,
  services: EveryService,
  rates: Port['rates'],
): Callers {
  const keyring = openKeyring({ live: api_keys, demo: demo_keys, waiver: waiver_keys });
  const board_keys = openBoardKeys({ ops: config.board_ops_secret, inbound: config.board_inbound_secret });
  const checks = { ...services, keyring, board_keys, decoy: sealDecoy(services) };
  return {
    async identify(shown, pays) {
      const principal = await identify(shown, checks);
      // A caller with valid credentials is not limited because of others at the same address.
      const turn = isNobodys(principal) ? rates.take('credentials', shown.address) : null;
      if (turn && !pays) requireWithin(turn);
      return principal;
    },
    createContext: (principal, brought) => ({ ...services, ...brought, principal, response: new ResponseHeaders() }),
  };
}

/** Whether the caller's credentials are invalid. */
function isNobodys({ possession, api_key, slice, ingest_key, board = {} }: Principal): boolean {
  const wrong = [possession, slice, ingest_key].some(shown => shown?.kind === 'wrong');
  const no_secret = Object.values(board).includes('wrong');
  return wrong || no_secret || api_key.kind === 'unknown';
}

const REJECTED = 402;

/**
 * Callers on /graphql. As for REST endpoints, a turn is taken before the code at a payer's address is called, and given back unless
 * the payment is refused.
 */
export function callersOnGraphql(
  graph: Graph,
  { identify, createContext }: Callers,
  bounds: Bounds,
): Pick<GraphqlOptions, 'createContext' | 'onResponse'> {
  const in_doubt = new WeakSet<FastifyRequest>();
  return {
    async createContext(request) {
      const { shown, pays, unproven, ...brought } = await broughtBy(request, graph, bounds);
      if (unproven) in_doubt.add(request);
      return createContext(await identify(shown, pays), brought);
    },
    onResponse({ request, status }) {
      if (in_doubt.has(request) && status !== REJECTED) bounds.rates.giveBack('unproven', request.ip);
    },
  };
}

const nothingBrought: CallHeaders = {
  payment: null,
  router_key: null,
  redelivery: null,
  idempotency_key: null,
  delegation: null,
  note: null,
};

/** Callers on sockets, which bring no payment. */
export function callersOnSockets({ identify, createContext }: Callers, services: EveryService): SocketCallers {
  return {
    identify: shown => identify(shown, false),
    bookOfSession: session => bookOfSession(services.database, session),
    keep: (shown, possession) => keepProof(shown, possession, services),
    createContext: principal => createContext(principal, nothingBrought),
    watchSessions: watcher => services.live.watchSessions(watcher),
    catchUp: () => services.live.catchUp(),
    requireNotHalted: () => requireNotHalted(services.database),
    halted: whenHalted(services.database),
  };
}

/** Reads the credentials and the payment of a request to /graphql. */
async function broughtBy(
  request: FastifyRequest,
  graph: Graph,
  { judge, rates }: Bounds,
): Promise<CallHeaders & { readonly shown: ShownCredentials; readonly pays: boolean; readonly unproven: boolean }> {
  const credentials = credentialsIn(request.headers, {}, provenOnGraphql(request), request.ip);
  const { router_key, redelivery, idempotency_key, delegation, note } = credentials;
  const payment = presentedIn(credentials.payment);
  const field = payment && paidFieldOf(request, graph);
  const worth = payment && field && (await judge.weigh(payment, field));
  const rejected = worth === 'rejected';
  if (rejected || worth === 'unproven') requireWithin(rates.take('unproven', request.ip));
  // The resolver reports the rejected payment itself, so no session is queried.
  const shown = rejected ? { ...credentials, sessions: [], proof: null } : credentials;
  const brought = { payment, router_key, redelivery, idempotency_key, delegation, note };
  const pays = payment !== null && field !== null && !rejected;
  return { ...brought, shown, pays, unproven: worth === 'unproven' };
}

/** Whether a request has a payment, for any resource, that its payer has signed. */
export async function showsPayment({ headers }: FastifyRequest, judge: Judge): Promise<boolean> {
  const payment = presentedIn(paymentIn(headers));
  return payment !== null && judge.isProven(payment);
}
