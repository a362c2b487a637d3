import { z } from 'zod';
import { keccak256 } from '../../../schema/digest.ts';
import { networks } from '../../../schema/network.ts';
import { LOG_ID, type TreeHeadFacts } from '../../../subgraphs/receipt/log/tree-head.ts';
import { bytes, type Hex, hex, keccakText, selector, words } from '../../rails/base/abi.ts';
import { type ChainLog, count, logShape, quantity, receiptShape } from '../../rails/base/chain.ts';
import { topic } from '../../rails/base/contracts.ts';
import { type ChainAnswer, type NodeRefusal, openRpc, refusedAsUnreachable } from '../../rails/rpc.ts';

/** A tree head of the log that one sender has anchored on Base. */
export interface AnchoredHead extends TreeHeadFacts {
  readonly tx_hash: Hex;
  readonly block_number: number;
  readonly log_index: number;
}

export interface AnchorReceipt {
  readonly block_number: number;
  readonly block_hash: Hex;
  readonly succeeded: boolean;
  readonly gas_used: number;
  /** The whole fee: gas, and the transaction's share of the L1 fee, which Base charges in addition. */
  readonly fee_wei: bigint;
  readonly anchored: readonly AnchoredHead[];
}

/** Reads of Base that only anchoring needs. Never throws. */
export interface AnchorChain {
  head(): Promise<ChainAnswer<number>>;
  /**
   * Heads that the sender has anchored, in the order of the chain, both blocks included. `refused`: the node does not search that many
   * blocks at once.
   */
  anchors(
    sender: Hex,
    from_block: number,
    to_block: number,
  ): Promise<ChainAnswer<readonly AnchoredHead[]> | NodeRefusal>;
  /** Receipt of a transaction, with the heads that the sender has anchored by it. Null if it is not mined. */
  receipt(hash: Hex, sender: Hex): Promise<ChainAnswer<AnchorReceipt | null>>;
  close(): Promise<void>;
}

/**
 * Limits of the node's responses. A page of logs takes a few hundred bytes for each anchor, and ten thousand anchors are more than a
 * year's.
 */
const bounds = { connections: 2, calls_per_request_max: 10, answer_bytes_max: 8 * 1024 * 1024 };

const costShape = z
  .object({ gasUsed: quantity, effectiveGasPrice: quantity, l1Fee: quantity.optional() })
  .transform(({ gasUsed, effectiveGasPrice, l1Fee = 0n }) => gasUsed * effectiveGasPrice + l1Fee);

/** The receipt and its fee are read from one response. */
const receiptWithCost = z.unknown().transform((answer, context) => {
  if (answer === null) return null;
  const [receipt, fee_wei] = [receiptShape.safeParse(answer), costShape.safeParse(answer)];
  if (receipt.success && fee_wei.success) return { receipt: receipt.data, fee_wei: fee_wei.data };
  context.addIssue({ code: 'custom', message: 'not a receipt' });
  return z.NEVER;
});

export function openAnchorChain(rpc_url: string): AnchorChain {
  const rpc = openRpc(rpc_url, bounds);
  return {
    head: () => rpc.call('eth_blockNumber', [], count).then(refusedAsUnreachable),
    async anchors(sender, from_block, to_block) {
      const topics = [anchoredTopic, topic(sender), topic(`0x${LOG_ID.toString(16)}`)];
      const range = { fromBlock: `0x${from_block.toString(16)}`, toBlock: `0x${to_block.toString(16)}` };
      const page = await rpc.call('eth_getLogs', [{ address: LOG_ANCHOR, topics, ...range }], z.array(logShape));
      if (page.kind !== 'ok') return page;
      const within = page.value.filter(({ block_number }) => block_number >= from_block && block_number <= to_block);
      return { kind: 'ok', value: anchorsIn(within, sender) };
    },
    async receipt(hash, sender) {
      const asked = await rpc.call('eth_getTransactionReceipt', [hash], receiptWithCost).then(refusedAsUnreachable);
      if (asked.kind !== 'ok') return asked;
      if (asked.value === null) return { kind: 'ok', value: null };
      const { receipt, fee_wei } = asked.value;
      if (receipt.tx_hash !== hash) return { kind: 'unreachable', cause: new Error('the receipt of another one') };
      const { block_number, block_hash, succeeded, gas_used } = receipt;
      const anchored = anchorsIn(receipt.logs, sender);
      return { kind: 'ok', value: { block_number, block_hash, succeeded, gas_used, fee_wei, anchored } };
    },
    close: () => rpc.close(),
  };
}

/** Heads in the logs of a response. A node may return logs that were not requested, so address and topics are checked again. */
function anchorsIn(logs: readonly ChainLog[], sender: Hex): AnchoredHead[] {
  const wanted = [anchoredTopic, topic(sender), topic(`0x${LOG_ID.toString(16)}`)];
  return logs
    .filter(({ address, topics }) => address === LOG_ANCHOR && wanted.every((each, at) => topics[at] === each))
    .filter(({ data }) => bytes(data).length === DATA_BYTES)
    .map(({ data, tx_hash, block_number, log_index }) => ({
      log_id: LOG_ID,
      tree_size: sizeOf(bytes(data).subarray(0, 32)),
      root_hash: bytes(data).subarray(32).toString('hex'),
      tx_hash,
      block_number,
      log_index,
    }))
    .sort((a, b) => a.block_number - b.block_number || a.log_index - b.log_index);
}

const DATA_BYTES = 64;

/**
 * Size of an anchored tree. A holder of the key may anchor any size. A size beyond exact integers is capped; it is still larger than any
 * log.
 */
function sizeOf(word: Buffer): number {
  const size = BigInt(`0x${word.toString('hex')}`);
  return size > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(size);
}

/** Number of blocks that one eth_getLogs searches. Nodes limit it, usually to 10,000. */
const SPAN_BLOCKS_MAX = 9_000;

interface Bounds {
  readonly from_block: number;
  readonly to_block: number;
  /** `newest`: the search ends with the first page that has an anchor. */
  readonly wanted: 'newest' | 'all';
}

/**
 * Searches for a sender's anchors from the newest block down, page by page. If a node refuses a page, or its response is too long, half as
 * many blocks are requested. `run` continues where it stopped.
 */
export class AnchorSearch {
  readonly #chain: Pick<AnchorChain, 'anchors'>;
  readonly #sender: Hex;
  readonly #bounds: Bounds;
  #to: number;
  #span = SPAN_BLOCKS_MAX;
  #found: AnchoredHead[] = [];

  constructor(chain: Pick<AnchorChain, 'anchors'>, sender: Hex, bounds: Bounds) {
    this.#chain = chain;
    this.#sender = sender;
    this.#bounds = bounds;
    this.#to = bounds.to_block;
  }

  /** Continues the search until `until_ms`, by `performance.now`. Returns all anchors that were found, in the order of the chain. */
  async run(until_ms: number): Promise<ChainAnswer<readonly AnchoredHead[]>> {
    const { from_block, wanted } = this.#bounds;
    while (this.#to >= from_block && !(wanted === 'newest' && this.#found.length > 0)) {
      if (performance.now() > until_ms) return tooLong(this.#to);
      const from = Math.max(from_block, this.#to - this.#span + 1);
      const page = await this.#chain.anchors(this.#sender, from, this.#to);
      if (page.kind === 'ok') {
        this.#found = [...page.value, ...this.#found];
        this.#to = from - 1;
        this.#span = Math.min(this.#span * 2, SPAN_BLOCKS_MAX);
        continue;
      }
      const cause = page.kind === 'refused' ? new Error(`the node refuses eth_getLogs: ${page.message}`) : page.cause;
      const smallest = this.#span === 1;
      this.#span = smallest ? SPAN_BLOCKS_MAX : Math.ceil(this.#span / 2);
      // An unreachable node is not called again in the same run, because each request may take until its time-out.
      if (smallest || page.kind === 'unreachable') return { kind: 'unreachable', cause };
    }
    return { kind: 'ok', value: this.#found };
  }
}

function tooLong(block_number: number): ChainAnswer<never> {
  return { kind: 'unreachable', cause: new Error(`anchors are searched for below block ${block_number}`) };
}

/**
 * LogAnchor.sol, compiled by solc 0.8.34 (cancun, optimizer with 1,000,000 runs, no metadata), as passed to CREATE2. A test compiles the
 * source again and compares.
 */
export const creationCode: Hex = `0x${[
  '6080604052348015600e575f5ffd5b5060c680601a5f395ff3fe6080604052348015600e575f5ffd5b50600436106026575f3560e01c80633c',
  'b3c6e314602a575b5f5ffd5b603960353660046087565b603b565b005b6040805167ffffffffffffffff8416815260208101839052849133',
  '917f74d0e3e3bac5e7932e82911537dcc88ceead6e11d5520f33c62ce6dcc21d551b910160405180910390a3505050565b5f5f5f60608486',
  '0312156098575f5ffd5b83359250602084013567ffffffffffffffff8116811460b5575f5ffd5b92959294505050604091909101359056',
].join('')}`;

const SALT = '00'.repeat(32);

/** Address of the contract that the deployment proxy creates (EIP-1014). It is the same on every chain. */
export const LOG_ANCHOR: Hex = createdAt(networks.base.deployment_proxy);

/** Transaction that deploys the contract through the deployment proxy. The first sender that anchors on a chain sends it, once. */
export const deployment = { to: networks.base.deployment_proxy, data: `0x${SALT}${creationCode.slice(2)}` as Hex };

export const anchoredTopic = keccakText('Anchored(address,uint256,uint64,bytes32)');
const anchorSelector = selector('anchor(uint256,uint64,bytes32)');

export function anchorCall({ log_id, tree_size, root_hash }: TreeHeadFacts) {
  return { to: LOG_ANCHOR, data: `0x${anchorSelector}${words(log_id, tree_size, `0x${root_hash}`)}` as Hex };
}

/** Gas per transaction: more than twice the measured gas, in case gas is counted differently one day. Unused gas is not paid. */
export const gasLimits = { anchor: 80_000, deployment: 240_000 } as const;

function createdAt(deployer: Hex): Hex {
  const code_hash = Buffer.from(keccak256(bytes(creationCode)));
  const name = Buffer.concat([Buffer.from('ff', 'hex'), bytes(deployer), Buffer.from(SALT, 'hex'), code_hash]);
  return hex(keccak256(name).subarray(12));
}
