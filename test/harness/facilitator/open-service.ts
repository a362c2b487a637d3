import { startGate } from '../doors/gate.ts';
import { type FacilitatorOptions, startFacilitator } from '../facilitator.ts';
import { audit } from '../faults/audit.ts';
import { type Answer, newBuyer, type Order, send } from '../faults/buyer.ts';
import { eventually, openGround } from '../faults/ground.ts';
import type { RunningService } from '../worker-gateway.ts';
import { shortIntervals, shortTimeouts } from './short-intervals.ts';

export type FacilitatorService = Awaited<ReturnType<typeof openFacilitatorService>>;

/** One database, chain, hub and facilitator, for processes that settle by it. Their own node is behind a gate. */
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
     * Returns a function that cuts the processes off from the chain at its first call alone, so that a retry does not
     * close a gate that was opened since.
     */
    cutOnce(): () => void {
      let done = false;
      return () => {
        if (!done) gate.cut();
        done = true;
      };
    },
    /** Starts it with the settings of an operator. */
    start: (changed: Readonly<Record<string, string>> = {}) =>
      ground.start({ environment: { ...environment, ...changed } }),
    /** Starts one that polls and retries sooner. */
    startPollingFast: (changed: Readonly<Record<string, string>> = {}) =>
      ground.start({ environment: { ...environment, ...changed }, options: shortIntervals }),
    /** Starts one that also gives up on a facilitator sooner. */
    startTimingOutFast: () => ground.start({ environment, options: shortTimeouts }),
    /** Starts one with short intervals, which dies when the test says so. */
    startDying: () => ground.startDying({ environment, options: shortIntervals }),
    /** The same as a process of its own. */
    startProcess: () =>
      ground.startProcess({ environment, entry: 'test/harness/facilitator/gateway-with-short-intervals.ts' }),
    /** Number of requests to the facilitator to settle it. */
    timesAsked: ({ authorization: { nonce } }: Order) =>
      facilitator.settlements.filter(asked => asked.nonce === nonce).length,
    /** The transfers of its payer on the chain: one, or none. */
    async transfersOf({ authorization: { payer } }: Order) {
      const transfers = await ground.chain.transfers(ground.pay_to);
      return transfers.filter(({ from }) => from === payer.toLowerCase());
    },
  };
}

/** Audits once no arrival is pending any more. Returns the number of transfers. */
export async function auditArrivals({ ground }: FacilitatorService): Promise<number> {
  const text = `select 1 from payment_claim where arrival = 'pending' limit 1`;
  await eventually('no arrival awaited', async () => (await ground.database.query({ text })).length === 0 || null);
  return audit(ground);
}

/** A wallet with a book, and its session. */
export async function registeredBuyer({ ground }: FacilitatorService, gateway: RunningService) {
  const buyer = await newBuyer(ground);
  const { status, body } = await send(gateway, await buyer.registration());
  if (status !== 200) throw new Error(`registering answered ${status}: ${JSON.stringify(body)}`);
  return { ...buyer, agent_id: Number(body.agent_id), session: String(body.session) };
}

/** Sends it until it is answered. Before that it accepts only refusals that ask to send the same payment again. */
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
