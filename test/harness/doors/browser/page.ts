import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { createClient } from 'graphql-ws';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** An answer as the page sees it, with only those headers that its browser lets it read. */
async function readableAnswer(answer: Response) {
  return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
}

/** A page that buys with unmodified clients. Its arguments and results are JSON, as the test runs outside of the browser. */
const buyer = {
  knock: async (url: string, init: RequestInit) => readableAnswer(await fetch(url, init)),
  /** Buys by the official client, with a wallet that was put into the page. */
  async buy(key: Hex, url: string, init: RequestInit) {
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(key)));
    return readableAnswer(await wrapFetchWithPayment(fetch, client)(url, init));
  },
  /** The first event of a subscription. */
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
