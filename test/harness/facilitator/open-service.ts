import { startGate } from '../doors/gate.ts';
import { type FacilitatorOptions, startFacilitator } from '../facilitator.ts';
import { audit } from '../faults/audit.ts';
import { type Answer, newBuyer, type Order, send } from '../faults/buyer.ts';
import { eventually, openGround } from '../faults/ground.ts';
import type { RunningService } from '../worker-gateway.ts';
import { shortIntervals, shortTimeouts } from './short-intervals.ts';

export type FacilitatorService = Awaited<ReturnType<typeof openFacilitatorService>>;

/** One database, chain, hub and facilitator, for processes that settle by that facilitator. Their RPC to the chain goes through a gate. */
export async function openFacilitatorService(options: Omit<FacilitatorOptions, 'rpc_url'> = {}) {
  const ground = await openGround();
  const facilitator = await startFacilitator({ ...options, rpc_url: () => ground.chain.rpc_url });
  const gate = await startGate(ground.chain.rpc_url);
  const environment = {
    FACILITATOR_URL: facilitator.url,
    FACILITATOR_KEYS: '',
    BASE_RPC_URL: gate.url,
    ...(options.factories ? { WALLET_FACTORIES: options.factories.join(',') } : {}),
  };
  return {
    ground,
    facilitator,
    gate,
    /**
     * Returns a function that cuts the processes off from the chain at its first call only, so that a retry does not cut a gate that has
     * been opened since.
     */
    cutOnce(): () => void {
      let done = false;
      return () => {
        if (!done) gate.cut();
        done = true;
      };
    },
    /** Starts a process with the intervals of production. */
    start: (changed: Readonly<Record<string, string>> = {}) =>
      ground.start({ environment: { ...environment, ...changed } }),
    /** Starts a process that polls and retries sooner. */
    startPollingFast: (changed: Readonly<Record<string, string>> = {}) =>
      ground.start({ environment: { ...environment, ...changed }, options: shortIntervals }),
    /** Starts a process that also gives up on a facilitator sooner. */
    startTimingOutFast: () => ground.start({ environment, options: shortTimeouts }),
    /** Starts a process with short intervals that dies at the point that a test sets. */
    startDying: () => ground.startDying({ environment, options: shortIntervals }),
    /** Starts the service with short intervals as a separate process. */
    startProcess: () =>
      ground.startProcess({ environment, entry: 'test/harness/facilitator/gateway-with-short-intervals.ts' }),
    /** Number of requests to settle this payment that the facilitator received. */
    timesAsked: ({ authorization: { nonce } }: Order) =>
      facilitator.settlements.filter(asked => asked.nonce === nonce).length,
    /** Transfers of the order's payer on the chain: one or none. */
    async transfersOf({ authorization: { payer } }: Order) {
      const transfers = await ground.chain.transfers(ground.pay_to);
      return transfers.filter(({ from }) => from === payer.toLowerCase());
    },
  };
}

/** Waits until no arrival is pending, then audits. Returns the number of transfers. */
export async function auditArrivals({ ground }: FacilitatorService): Promise<number> {
  const text = `select 1 from payment_claim where arrival = 'pending' limit 1`;
  await eventually('no arrival awaited', async () => (await ground.database.query({ text })).length === 0 || null);
  return audit(ground);
}

/** A registered wallet with its book and session. */
export async function registeredBuyer({ ground }: FacilitatorService, gateway: RunningService) {
  const buyer = await newBuyer(ground);
  const { status, body } = await send(gateway, await buyer.registration());
  if (status !== 200) throw new Error(`registering answered ${status}: ${JSON.stringify(body)}`);
  return { ...buyer, agent_id: Number(body.agent_id), session: String(body.session) };
}

/** Sends the order until it is answered 200. Until then it accepts only refusals that request the same payment again. */
export function settledAnswerTo(gateway: RunningService, order: Order): Promise<Answer> {
  return eventually('an answer', async () => {
    const answer = await send(gateway, order);
    if (answer.status === 200) return answer;
    const code = String(answer.body.code);
    if (!['payment_in_flight', 'settlement_pending', 'chain_unavailable'].includes(code))
      throw new Error(`${answer.status} ${code}`);
    return null;
  });
}
