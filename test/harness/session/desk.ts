import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { identify, openBoardKeys, openKeyring } from '../../../gateway/graph/identify.ts';
import { openFreeWallets } from '../../../gateway/rates/rates.ts';
import { type TaskId, taskId } from '../../../schema/ids.ts';
import { nobody, type Possession, type Principal } from '../../../schema/principal.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { RegistrationRequest } from '../../../schema/requests/registration.ts';
import { systemRandom } from '../../../subgraphs/clock.ts';
import { ResponseHeaders } from '../../../subgraphs/context.ts';
import { type SessionContext } from '../../../subgraphs/session/context.ts';
import { sealDecoy } from '../../../subgraphs/session/possession/check.ts';
import { controlText } from '../../../subgraphs/session/registration/control.ts';
import { registrationPaid } from '../../../subgraphs/session/registration/registration.paid.ts';
import { RegistrationResolver } from '../../../subgraphs/session/registration/registration.resolver.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import { freshStore } from '../store.ts';
import { keyWallets } from './wallets.ts';

export const NOW_MS = 1_790_000_000_000;
const vault = openVault('a secret for sealing');
const board_keys = openBoardKeys({ ops: 'an-ops-secret', inbound: 'an-inbound-secret' });
const keyring = openKeyring({ live: ['live-key'], demo: [], waiver: [] });

export type Account = ReturnType<typeof privateKeyToAccount>;
export type SessionDesk = Awaited<ReturnType<typeof openDesk>>;

export const newWallet = (): Account => privateKeyToAccount(generatePrivateKey());
export const newTask = (): TaskId => taskId(NOW_MS, systemRandom.bytes(10));
export const payerOf = ({ address }: Account) => ({ network: 'base', wallet: address }) as const;

/** A signed registration. With a task id it is a recovery by that receipt. */
export async function requestOf(
  account: Account,
  { at = NOW_MS / 1000, ...members }: { task_id?: string; request_hash?: string; at?: number } = {},
) {
  const text = controlText(account.address, at, members.task_id ?? null);
  const wallet_signature = await account.signMessage({ message: text });
  const body = { agentWallet: account.address, wallet_signature, signature_timestamp: at, ...members };
  return parseRequest(RegistrationRequest, body);
}

/** The session subgraph on a new database at a fixed time, without payments and without a chain. */
export async function openDesk() {
  const database = await freshStore();
  const context: SessionContext = {
    database,
    vault,
    random: systemRandom,
    clock: { now_ms: () => NOW_MS },
    wallets: keyWallets,
    free_wallets: openFreeWallets(keyWallets, { take: () => ({ kind: 'within', headers: {} }), giveBack: () => {} }),
    live: {
      watch: async () => () => {},
      watchSessions: async () => () => {},
      watchTree: async () => () => {},
      catchUp: async () => {},
      close: async () => {},
    },
    charge: async () => Promise.reject(new Error('nothing is charged here')),
    chargeStream: async () => Promise.reject(new Error('nothing is charged here')),
    chargeLegs: async () => Promise.reject(new Error('nothing is charged here')),
    base_url: 'http://127.0.0.1',
    base_urls: ['http://127.0.0.1'],
    profile: 'development',
    principal: nobody,
    payment: null,
    router_key: null,
    redelivery: null,
    idempotency_key: null,
    delegation: null,
    note: null,
    refusalOfAct: async () => null,
    readSessionBurns: async () => [],
    hand_offs: { record: async () => Promise.reject(new Error('nothing is recorded here')) },
    response: new ResponseHeaders(),
  };
  let signatures = 0;
  const paid = registrationPaid(context);
  const resolver = new RegistrationResolver();
  const checks = { ...context, keyring, board_keys, decoy: sealDecoy(context) };
  const identified = (shown: object): Promise<Principal> =>
    identify({ sessions: [], agent: null, proof: null, api_key: null, address: '127.0.0.1', ...shown }, checks);
  return {
    database,
    context,
    paid,
    checks,
    identified,
    /** Id of the agent whose book a session opens now. Null if it opens none. */
    async opens(session: string): Promise<number | null> {
      const { possession }: { possession: Possession } = await identified({ sessions: [session] });
      return possession.kind === 'proven' ? possession.agent_id : null;
    },
    /** The steps of a paid registration without the payment. */
    async register(account: Account, task_id: TaskId = newTask()) {
      const request = await requestOf(account);
      const payer = payerOf(account);
      await paid.admit?.(request, payer, context);
      const agent_id = (await paid.book?.(request, payer, context)) ?? null;
      const stamped = { task_id, payer, agent_id, payment_ref: 'base:0x1', transfer: null, recorded_at_ms: NOW_MS };
      return database.transaction(tx => paid.commit(tx, request, stamped, null));
    },
    /** Registers by a receipt. By default at a time for which the wallet has not signed yet, because a signature counts once. */
    async registerBy(account: Account, task_id: string, at = NOW_MS / 1000 - signatures++) {
      const request = await requestOf(account, { task_id, at });
      const { wallet_signature: walletSignature, signature_timestamp: signatureTimestamp } = request;
      const input = { agentWallet: account.address, taskId: task_id, walletSignature, signatureTimestamp };
      return resolver.registerAgent(input, context);
    },
  };
}
