import { Agent, request } from 'undici';
import { z } from 'zod';
import type { ChainAnswer } from '../rpc.ts';
import type { StateBlock } from './state-block.ts';

/** A node's record of a block, with only the block's own content, which does not include the amount. */
export interface BlockInfo {
  readonly block: StateBlock;
  /** Whether it is cemented, so that no other block can replace it. */
  readonly confirmed: boolean;
  readonly subtype: string | null;
}

/** A block of a type older than state blocks. Its content is not read. */
export interface LegacyBlock {
  readonly legacy: string;
}

/** Queries about Nano that payments to others need. Never throws. */
export interface NanoNode {
  /** The block with that hash of 64 hex digits; null if the node does not have it. */
  block(hash: string): Promise<ChainAnswer<BlockInfo | LegacyBlock | null>>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 5_000;
/** Limits of a connection. A block is less than a kilobyte. */
const bounds = { connections: 8, maxResponseSize: 64 * 1024 };

/** Opens Nano by a node's RPC URL. The API is JSON over HTTP, but not JSON-RPC. */
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

/**
 * Schemas of the members that are read from a node's responses. A node is not trusted: a response of another shape counts as no
 * response.
 */
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

/** Only this refusal shows that the block is absent. Others (a limit, a ledger that is still loading) count as no response. */
const absentShape = z.object({ error: z.literal('Block not found') }).transform(() => null);
const answerShape = z.union([infoShape, absentShape]);
