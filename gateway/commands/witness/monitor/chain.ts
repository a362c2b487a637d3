import { z } from 'zod';
import { networks } from '../../../../schema/network.ts';
import { LogAway, readWithin } from '../log-source.ts';
import type { SeenTransfer } from './match.ts';

/** The chain cannot be read now. The message does not contain the node's URL, which may contain a key. */
export class ChainSilent extends LogAway {
  override name = 'ChainSilent';
}

const ASK_MS_MAX = 15_000;
const ANSWER_BYTES_MAX = 16 * 2 ** 20;
/** Maximum number of blocks in one request. Most nodes refuse a wider range. */
const BLOCKS_MAX = 2_000;

const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const Quantity = z.string().regex(/^0x[0-9a-f]{1,64}$/i);
const Log = z.object({
  address: z.string(),
  topics: z.array(z.string()),
  data: z.string(),
  transactionHash: z.string(),
  logIndex: Quantity,
  blockNumber: Quantity,
});
const Answer = z.object({ result: z.unknown().optional(), error: z.object({}).loose().optional() });

export interface TransferParties {
  /** In lower case, as all addresses in this folder. */
  readonly wallet: string;
  /** Payees whose transfers are read; null for any payee. */
  readonly treasuries: readonly string[] | null;
}

/** Reads USDC transfers from a node of Base. Each response is limited in time and size. */
export class TransferSource {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** @throws ChainSilent */
  async newestBlock(): Promise<number> {
    return Number(parsed(Quantity, await this.#request('eth_blockNumber', [])));
  }

  /** Id of the node's chain (EIP-155). @throws ChainSilent */
  async chainId(): Promise<number> {
    return Number(parsed(Quantity, await this.#request('eth_chainId', [])));
  }

  /**
   * The transfers in these blocks, both included, in the chain's order. `shown` is called with the number of blocks read so far.
   * @throws ChainSilent
   */
  async transfers(
    { wallet, treasuries }: TransferParties,
    { from, to }: { readonly from: number; readonly to: number },
    shown: (blocks: number) => void,
  ): Promise<SeenTransfer[]> {
    const found: SeenTransfer[] = [];
    const topics = [TRANSFER_TOPIC, topicOf(wallet), ...(treasuries ? [treasuries.map(topicOf)] : [])];
    let width = BLOCKS_MAX;
    for (let at = from; at <= to; ) {
      const last = Math.min(to, at + width - 1);
      const filter = { address: networks.base.usdc, topics, fromBlock: hex(at), toBlock: hex(last) };
      const answer = await this.#ask('eth_getLogs', [filter]);
      if (answer.error && width > 1) {
        // Some nodes allow fewer blocks or logs per response.
        width = Math.ceil(width / 2);
        continue;
      }
      found.push(...eachOnce(transfersIn(resultOf(answer, 'eth_getLogs'), { wallet, treasuries }), at, last));
      at = last + 1;
      shown(at - from);
    }
    return found;
  }

  /** The transfers of one transaction; empty if the chain does not have it or it was reverted. @throws ChainSilent */
  async transfersOf(tx_hash: string, between: TransferParties): Promise<SeenTransfer[]> {
    const receipt = await this.#request('eth_getTransactionReceipt', [tx_hash]);
    if (receipt === null) return [];
    const { status, logs } = parsed(z.object({ status: Quantity, logs: z.unknown() }), receipt);
    return Number(status) === 1 ? transfersIn(logs, between) : [];
  }

  async #request(method: string, params: readonly unknown[]): Promise<unknown> {
    return resultOf(await this.#ask(method, params), method);
  }

  async #ask(method: string, params: readonly unknown[]): Promise<z.infer<typeof Answer>> {
    try {
      const answer = await fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        redirect: 'error',
        signal: AbortSignal.timeout(ASK_MS_MAX),
      });
      if (!answer.body) throw new ChainSilent(`the chain's node answers ${method} with an empty response`);
      return Answer.parse(JSON.parse((await readWithin(answer.body, ANSWER_BYTES_MAX, 'the chain')).toString()));
    } catch (fault) {
      if (fault instanceof ChainSilent) throw fault;
      throw new ChainSilent(`the chain's node does not answer ${method} correctly`);
    }
  }
}

function resultOf({ result, error }: z.infer<typeof Answer>, method: string): unknown {
  if (error || result === undefined) throw new ChainSilent(`the chain's node refuses ${method}`);
  return result;
}

function parsed<T>(shape: z.ZodType<T>, value: unknown): T {
  const { data, success } = shape.safeParse(value);
  if (success) return data;
  throw new ChainSilent("the chain's node answers in an unexpected form");
}

/** Sorts the transfers and drops those of other blocks. @throws ChainSilent if two different transfers have the same place */
function eachOnce(transfers: readonly SeenTransfer[], from: number, to: number): SeenTransfer[] {
  const placed = new Map<string, SeenTransfer>();
  for (const transfer of transfers) {
    const { block_number, log_index, tx_hash, amount } = transfer;
    if (block_number < from || block_number > to) continue;
    const place = `${block_number}/${log_index}`;
    const known = placed.get(place);
    if (known && (known.tx_hash !== tx_hash || known.to !== transfer.to || known.amount !== amount))
      throw new ChainSilent(`the chain's node gives two different transfers for log ${place}`);
    placed.set(place, transfer);
  }
  return [...placed.values()].sort((a, b) => a.block_number - b.block_number || a.log_index - b.log_index);
}

/** The requested transfers among logs, because a node may return more than was requested. */
function transfersIn(logs: unknown, { wallet, treasuries }: TransferParties): SeenTransfer[] {
  return parsed(z.array(Log), logs).flatMap(({ address, topics: [topic, from, to], ...log }) => {
    const wanted = address.toLowerCase() === networks.base.usdc.toLowerCase() && topic === TRANSFER_TOPIC;
    const payee = payeeOf(to, treasuries);
    // Data of other events has another form.
    if (!wanted || payee === null || from?.toLowerCase() !== topicOf(wallet)) return [];
    const { transactionHash, logIndex, blockNumber } = log;
    const amount = BigInt(parsed(Quantity, log.data));
    // Anyone may transfer an amount of 0 from another account (EIP-20).
    if (amount === 0n) return [];
    const place = { log_index: Number(logIndex), block_number: Number(blockNumber) };
    return [{ tx_hash: transactionHash.toLowerCase(), ...place, to: payee, amount }];
  });
}

/** Payee in lower case; null if it is not one of the requested payees. */
function payeeOf(topic: string | undefined, treasuries: TransferParties['treasuries']): string | null {
  const address = /^0x0{24}([0-9a-f]{40})$/.exec(topic?.toLowerCase() ?? '')?.[1];
  if (address === undefined) return null;
  return treasuries === null || treasuries.includes(`0x${address}`) ? `0x${address}` : null;
}

const topicOf = (address: string) => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`;
const hex = (block: number) => `0x${block.toString(16)}`;
