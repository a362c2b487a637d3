import { Agent, request } from 'undici';
import { z } from 'zod';
import type { ChainAnswer } from '../rpc.ts';
import type { StateBlock } from './state-block.ts';

/** A node's record of a block. Only the block's own content is kept; it does not include the amount. */
export interface BlockInfo {
  readonly block: StateBlock;
  /** Cemented: no other block can replace it. */
  readonly confirmed: boolean;
  readonly subtype: string | null;
}

/** A block from before state blocks, which is not read. */
export interface LegacyBlock {
  readonly legacy: string;
}

/** The queries about Nano that payments to others need. Never throws. */
export interface NanoNode {
  /** Null if the node knows no such block. @param hash 64 hex digits */
  block(hash: string): Promise<ChainAnswer<BlockInfo | LegacyBlock | null>>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 5_000;
/** A block is less than a kilobyte. */
const bounds = { connections: 8, maxResponseSize: 64 * 1024 };

/** Nano by a node's RPC URL: JSON over HTTP, but not JSON-RPC. */
export function openNanoNode({ rpc_url }: { readonly rpc_url: string }): NanoNode {
  const dispatcher = new Agent(bounds);
  return {
    async block(hash) {
      try {
        const { statusCode, body } = await request(rpc_url, {
          method: 'POST',
          dispatcher,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ action: 'block_info', json_block: 'true', hash }),
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        const text = await body.text();
        if (statusCode !== 200) throw new Error(`the Nano node responded with HTTP ${statusCode}`);
        return { kind: 'ok', value: answerShape.parse(JSON.parse(text)) };
      } catch (cause) {
        return { kind: 'unreachable', cause };
      }
    },
    close: () => dispatcher.close(),
  };
}

/** Responses of a node, as far as they are read. A node is not trusted: another shape is no response. */
const hash = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/)
  .transform(digits => digits.toUpperCase());
const raw = z
  .string()
  .regex(/^[0-9]{1,39}$/)
  .transform(digits => BigInt(digits));

const stateShape = z.object({
  type: z.literal('state'),
  account: z.string().max(65),
  previous: hash,
  representative: z.string().max(65),
  balance: raw,
  link: hash,
  signature: z.string().regex(/^[0-9a-fA-F]{128}$/),
  work: z.string().regex(/^[0-9a-fA-F]{16}$/),
});
const legacyShape = z.object({ type: z.enum(['send', 'receive', 'open', 'change']) });

/** `confirmed` is a string, like all values of this API. */
const infoShape = z
  .object({
    confirmed: z.enum(['true', 'false']),
    subtype: z.string().max(16).optional(),
    contents: z.union([stateShape, legacyShape]),
  })
  .transform(({ confirmed, subtype, contents }): BlockInfo | LegacyBlock => {
    if (contents.type !== 'state') return { legacy: contents.type };
    return { block: contents, confirmed: confirmed === 'true', subtype: subtype ?? null };
  });

/** Other refusals (a limit, a ledger that is still loading) are no answer. */
const absentShape = z.object({ error: z.literal('Block not found') }).transform(() => null);
const answerShape = z.union([infoShape, absentShape]);
