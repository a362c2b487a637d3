import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { nanoAddressOf } from '../../../gateway/rails/nano/state-block.ts';
import { atEnd } from '../release.ts';
import type { SignedBlock } from './blocks.ts';

/** A block as a node's RPC describes it. All values are strings. */
export interface BlockInfo {
  readonly block_account: string;
  readonly amount: string;
  readonly balance: string;
  readonly height: string;
  readonly local_timestamp: string;
  readonly confirmed: string;
  readonly contents: Readonly<Record<string, string>>;
  readonly subtype: string;
}

interface StoredBlock {
  readonly block: SignedBlock;
  readonly subtype: 'send' | 'receive' | 'change';
  readonly confirmed?: boolean;
}

/** How the node answers all requests. */
export type NanoBehaviour = 'plain' | 'error' | 'garbage' | 'huge' | 'cut' | 'limited';

const HUGE_BYTES = 100 * 1024 * 1024;

/** A Nano node's RPC with blocks that a test made and signed. The test can replace their descriptions. */
export async function startNanoNode() {
  const blocks = new Map<string, StoredBlock>();
  let lie: (told: BlockInfo, hash: string) => unknown = told => told;
  let manner: NanoBehaviour = 'plain';
  let asked = 0;
  const answers: Record<Exclude<NanoBehaviour, 'plain'>, (response: ServerResponse) => void> = {
    error: response => void response.writeHead(500).end('{"error":"Internal server error in RPC"}'),
    garbage: response => void response.end('<html>busy</html>'),
    huge: pour,
    cut: response => void response.destroy(),
    limited: response => void response.end('{"error":"Rate limit exceeded"}'),
  };
  const server = createServer(async (incoming, response) => {
    const { action, hash, json_block } = (await json(incoming)) as Record<string, string>;
    asked++;
    if (manner !== 'plain') return answers[manner](response);
    response.writeHead(200, { 'content-type': 'application/json' });
    if (action !== 'block_info') return void response.end('{"error":"Unknown command"}');
    const kept = blocks.get(String(hash));
    if (!kept) return void response.end('{"error":"Block not found"}');
    const told = lie(blockInfoOf(kept, blocks), kept.block.hash) as BlockInfo;
    // Without `json_block` the contents are JSON in a string.
    const contents = json_block === 'true' ? told.contents : JSON.stringify(told.contents);
    response.end(JSON.stringify({ ...told, contents }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rpc?key=a-key-that-nobody-may-read`,
    keep(...kept: readonly StoredBlock[]): void {
      for (const one of kept) blocks.set(one.block.hash, one);
    },
    /** Stores the block under a hash that is not its own. */
    keepAs(hash: string, kept: StoredBlock): void {
      blocks.set(hash, kept);
    },
    lie(next: typeof lie): void {
      lie = next;
    },
    behave(next: NanoBehaviour): void {
      manner = next;
    },
    /** Gives true answers again. */
    tellTruth(): void {
      lie = told => told;
      manner = 'plain';
    },
    asked: () => asked,
  };
}

function blockInfoOf(
  { block, subtype, confirmed = true }: StoredBlock,
  blocks: ReadonlyMap<string, StoredBlock>,
): BlockInfo {
  const before = blocks.get(block.previous)?.block.balance ?? 0n;
  const { account, previous, representative, balance, link, signature, work } = block;
  const amount = before > balance ? before - balance : balance - before;
  return {
    block_account: account,
    amount: amount.toString(),
    balance: balance.toString(),
    height: '58',
    local_timestamp: '0',
    confirmed: String(confirmed),
    contents: {
      type: 'state',
      account,
      previous,
      representative,
      balance: balance.toString(),
      link,
      link_as_account: nanoAddressOf(Buffer.from(link, 'hex')),
      signature,
      work,
    },
    subtype,
  };
}

function pour(response: ServerResponse): void {
  const piece = Buffer.alloc(1024 * 1024, ' ');
  let left = HUGE_BYTES / piece.length;
  const more = () => {
    while (left-- > 0 && !response.destroyed) if (!response.write(piece)) return void response.once('drain', more);
    response.end();
  };
  response.on('error', () => {}).writeHead(200, { 'content-type': 'application/json' });
  more();
}
