import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { usdcAccountOf } from '../../rails/solana/transfer.ts';
import { BLOCKHASH_AGE_MAX, type Commitment, type LiteChain } from './chain.ts';
import { statusJson } from './execute.ts';
import { type BlockTransaction, decodeTransaction, tokenAmount, transactionJson } from './transactions.ts';

export type RpcMethod = (params: readonly Json[]) => Json | Promise<Json>;

/** An error response (JSON-RPC 2.0 section 5.1). */
export class SvmRpcFault extends Error {
  readonly code: number;
  readonly data: Json;

  constructor(code: number, message: string, data: Json = null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const INVALID_PARAMS = -32602;
const PREFLIGHT_FAILED = -32002;

/** The methods of Solana's JSON-RPC that wallets, facilitators and auditors use, and the `dev_*` methods of this project. */
export function methodsOf(chain: LiteChain): Readonly<Record<string, RpcMethod>> {
  return {
    ...clockMethods(chain),
    ...accountMethods(chain),
    ...transactionMethods(chain),
    ...developmentMethods(chain),
  };
}

function clockMethods(chain: LiteChain): Record<string, RpcMethod> {
  const clock = () => chain.clock;
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': '2.0.0', 'feature-set': 0 }),
    getGenesisHash: () => clock().genesis_hash,
    getSlot: params => clock().slot(commitmentOf(params[0])),
    getBlockHeight: params => clock().slot(commitmentOf(params[0])),
    getEpochInfo: params => {
      const slot = clock().slot(commitmentOf(params[0]));
      return { absoluteSlot: slot, blockHeight: slot, epoch: 0, slotIndex: slot, slotsInEpoch: 432_000 };
    },
    getFirstAvailableBlock: () => 0,
    getBlockTime: ([slot]) => clock().time(Number(slot)),
    getLatestBlockhash: params => {
      const slot = clock().slot(commitmentOf(params[0]));
      const value = { blockhash: clock().blockhash(slot), lastValidBlockHeight: slot + BLOCKHASH_AGE_MAX };
      return inContext(chain, value);
    },
    isBlockhashValid: ([hash]) => inContext(chain, clock().isValid(String(hash))),
    getBlock: ([number]) => {
      const slot = Number(number);
      if (!Number.isSafeInteger(slot) || slot < 0 || slot > clock().slot()) return null;
      const signatures = chain.landedTransactions().flatMap(one => (one.slot === slot ? [one.signature] : []));
      const parentSlot = Math.max(0, slot - 1);
      const hashes = { blockhash: clock().blockhash(slot), previousBlockhash: clock().blockhash(parentSlot) };
      return { ...hashes, parentSlot, blockHeight: slot, blockTime: clock().time(slot), signatures };
    },
    getRecentPrioritizationFees: () => [],
  };
}

function accountMethods(chain: LiteChain): Record<string, RpcMethod> {
  const account = (at: Json): Json => {
    const { exists, ...found } = chain.account(String(at));
    if (!exists || !('data' in found)) return null;
    const data = [Buffer.from(found.data).toString('base64'), 'base64'];
    const size = { space: found.data.length, rentEpoch: 0 };
    return {
      data,
      executable: found.executable,
      lamports: Number(found.lamports),
      owner: found.programAddress,
      ...size,
    };
  };
  return {
    getAccountInfo: ([at]) => inContext(chain, account(at ?? null)),
    getMultipleAccounts: ([many]) => inContext(chain, [many ?? []].flat().map(account)),
    getBalance: ([at]) => {
      const found = chain.account(String(at));
      return inContext(chain, found.exists ? Number(found.lamports) : 0);
    },
    getTokenAccountBalance: ([at]) => {
      const found = chain.account(String(at));
      if (!found.exists) throw new SvmRpcFault(INVALID_PARAMS, 'Invalid param: could not find account');
      return inContext(chain, tokenAmount(Buffer.from(found.data).readBigUInt64LE(64)));
    },
    getMinimumBalanceForRentExemption: ([bytes]) => Number(chain.rentExemption(BigInt(Number(bytes)))),
  };
}

function transactionMethods(chain: LiteChain): Record<string, RpcMethod> {
  return {
    simulateTransaction: ([text, options]) => {
      const { sigVerify, replaceRecentBlockhash } = optionsOf(options);
      const checks = { signatures: sigVerify === true, blockhash: replaceRecentBlockhash !== true };
      const { err, logs, units, inner } = chain.simulate(decodeTransaction(bytesOf(text)), checks);
      const value = { err, logs: [...logs], unitsConsumed: units, accounts: null, returnData: null };
      return inContext(chain, { ...value, innerInstructions: inner });
    },
    sendTransaction: ([text, options]) => {
      const sent = chain.send(bytesOf(text), optionsOf(options).skipPreflight !== true);
      if (sent.kind === 'accepted') return sent.signature;
      const { err, logs } = sent;
      const said = `Transaction simulation failed: ${JSON.stringify(err)}`;
      throw new SvmRpcFault(PREFLIGHT_FAILED, said, { err, logs: [...logs], accounts: null, unitsConsumed: 0 });
    },
    getSignatureStatuses: ([signatures]) =>
      inContext(
        chain,
        [signatures ?? []].flat().map(signature => statusOf(chain, chain.findTransaction(String(signature)))),
      ),
    getTransaction: ([signature, options]) => {
      const found = chain.findTransaction(String(signature));
      if (!found || !reaches(chain, found, commitmentOf(options))) return null;
      const { slot, meta, raw } = found;
      const encoded = optionsOf(options).encoding === 'base64';
      const transaction = encoded ? [raw.toString('base64'), 'base64'] : transactionJson(found);
      return { slot, blockTime: chain.clock.time(slot), version: versionOf(found), meta, transaction };
    },
    getSignaturesForAddress: ([at, options]) => {
      const limit = Number(optionsOf(options).limit ?? 1_000);
      const seen = (one: BlockTransaction) => reaches(chain, one, commitmentOf(options));
      const touching = chain.landedTransactions().filter(one => one.keys.includes(String(at)) && seen(one));
      return touching
        .reverse()
        .slice(0, limit)
        .map(({ signature, slot, err }) => {
          const confirmationStatus = statusName(chain, slot);
          return { signature, slot, err, memo: null, blockTime: chain.clock.time(slot), confirmationStatus };
        });
    },
  };
}

function developmentMethods(chain: LiteChain): Record<string, RpcMethod> {
  return {
    dev_advanceSlots: ([slots]) => {
      chain.perform({ kind: 'skipped', slots: Number(slots) });
      return chain.clock.slot();
    },
    dev_pace: ([slot_ms]) => {
      chain.perform({ kind: 'paced', slot_ms: Number(slot_ms), at_ms: Date.now() });
      return null;
    },
    dev_expireBlockhashes: () => {
      chain.perform({ kind: 'skipped', slots: BLOCKHASH_AGE_MAX + 1 });
      return chain.clock.slot();
    },
    /** Adds USDC or lamports, both optional decimal digits. Creates the owner's USDC account if it does not exist. */
    dev_fund: async ([owner, funds]) => {
      const { usdc_atomic = '0', lamports = '0' } = optionsOf(funds);
      const to = { owner: String(owner), usdc_account: await usdcAccountOf(String(owner)) };
      chain.perform({ kind: 'funded', ...to, usdc_atomic: String(usdc_atomic), lamports: String(lamports) });
      return to.usdc_account;
    },
    dev_stall: ([on]) => {
      chain.stall(on !== false);
      return null;
    },
    dev_waiting: () => chain.heldSignatures(),
    dev_drop: () => {
      chain.drop();
      return null;
    },
    /** Abandons the fork with the transaction. All other changes are repeated without it. */
    dev_forget: ([signature]) => {
      chain.perform({ kind: 'forgotten', signature: String(signature) });
      return null;
    },
  };
}

function statusOf(chain: LiteChain, found: BlockTransaction | null): Json {
  if (!found) return null;
  const name = statusName(chain, found.slot);
  const confirmations = name === 'finalized' ? null : chain.clock.slot() - found.slot;
  const { slot, err } = found;
  return { slot, confirmations, err, status: statusJson(err), confirmationStatus: name };
}

/** State of a slot. A single node is its own majority, so an executed transaction is confirmed. */
function statusName(chain: LiteChain, slot: number): Commitment {
  return slot <= chain.clock.slot('finalized') ? 'finalized' : 'confirmed';
}

function reaches(chain: LiteChain, found: BlockTransaction, commitment: Commitment): boolean {
  return commitment !== 'finalized' || statusName(chain, found.slot) === 'finalized';
}

function versionOf({ message }: BlockTransaction): Json {
  return message.version;
}

function inContext(chain: LiteChain, value: Json): Json {
  return { context: { apiVersion: '2.0.0', slot: chain.clock.slot() }, value };
}

/** The requested commitment. Default: `finalized`, as on Solana. */
function commitmentOf(options: Json | undefined): Commitment {
  const { commitment } = optionsOf(options);
  return commitment === 'processed' || commitment === 'confirmed' ? commitment : 'finalized';
}

function optionsOf(options: Json | undefined): JsonObject {
  return typeof options === 'object' && options !== null && !Array.isArray(options) ? (options as JsonObject) : {};
}

function bytesOf(text: Json | undefined): Buffer {
  if (typeof text !== 'string') throw new SvmRpcFault(INVALID_PARAMS, 'Invalid params: a base64 transaction is wanted');
  return Buffer.from(text, 'base64');
}
