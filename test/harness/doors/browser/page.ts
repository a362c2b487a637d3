import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { createClient } from 'graphql-ws';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** An answer as the page receives it, with only the headers that the browser lets it read. */
async function readableAnswer(answer: Response) {
  return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
}

/** A page that buys with unmodified clients. Arguments and results are JSON, because the test runs outside of the browser. */
const buyer = {
  knock: async (url: string, init: RequestInit) => readableAnswer(await fetch(url, init)),
  /** Buys by the official client, with the key of a wallet that the test passes in. */
  async buy(key: Hex, url: string, init: RequestInit) {
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(key)));
    return readableAnswer(await wrapFetchWithPayment(fetch, client)(url, init));
  },
  /** The first event of a subscription. Null if it ends without one. */
  async hear(url: string, connectionParams: Record<string, unknown>, query: string): Promise<unknown> {
    const client = createClient({ url, connectionParams, retryAttempts: 0 });
    try {
      for await (const event of client.iterate({ query })) return event;
      return null;
    } finally {
      await client.dispose();
    }
  },
};

export type BrowserBuyer = typeof buyer;

Object.assign(globalThis, { buyer });
