import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../../schema/canonical-json.ts';
import { jwksUri } from '../../../../schema/links.ts';
import { walletReceiptsPage } from '../../../../schema/wallet-receipts.ts';
import { LogAway, within } from '../log-source.ts';
import type { SignWallet } from './wallet.ts';

const ASK_MS_MAX = 30_000;
const ANSWER_BYTES_MAX = 8 * 2 ** 20;
/** A service that never comes to the end of its pages is none. */
const PAGES_MAX = 100_000;

const Page = z.object({
  receipts: z.array(z.custom<JsonObject>(isJsonObject)).max(walletReceiptsPage.most),
  next: z.int().nullable(),
});
const Offer = z.object({ accepts: z.array(z.object({ network: z.string(), payTo: z.string() })) });

/** What a service is asked for by whoever watches it. Each answer is bounded in time and size. */
export class WatchedService {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** The key set that it publishes. @throws LogAway */
  async jwks(): Promise<JsonObject> {
    return this.#json(200, jwksUri(this.#url), { method: 'GET' });
  }

  /** Whom it asks to be paid on Base, lower-case; null where it asks for nothing there. @throws LogAway */
  async treasury(): Promise<string | null> {
    const { data } = Offer.safeParse(await this.#json(402, `${this.#url}/v1/chat/completions`, { method: 'POST' }));
    return data?.accepts.find(({ network }) => network === 'base')?.payTo.toLowerCase() ?? null;
  }

  /** All that the wallet has paid for behind a leaf, in the log's order. @throws LogAway */
  async *receipts(wallet: string, sign: SignWallet, behind: number): AsyncGenerator<JsonObject> {
    let after = behind;
    for (let page = 0; page < PAGES_MAX; page++) {
      const body = JSON.stringify({ ...(await sign()), after, limit: walletReceiptsPage.most });
      const headers = { 'content-type': 'application/json' };
      const url = `${this.#url}/v1/wallets/${wallet}/receipts`;
      const { data, success } = Page.safeParse(await this.#json(200, url, { method: 'POST', headers, body }));
      if (!success) throw new LogAway(`${url} answers in another shape than it should`);
      yield* data.receipts;
      if (data.next === null) return;
      if (data.next <= after) throw new LogAway(`${url} does not come to its end`);
      after = data.next;
    }
    throw new LogAway(`${this.#url} has too many receipts of ${wallet} for one look`);
  }

  async #json(status: number, url: string, init: RequestInit): Promise<JsonObject> {
    try {
      const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ASK_MS_MAX) });
      if (!answer.body || answer.status !== status) {
        await answer.body?.cancel();
        throw new LogAway(
          `${url} answered ${answer.status}${answer.status === 401 ? ': it does not believe the wallet' : ''}`,
        );
      }
      const value: unknown = JSON.parse((await within(answer.body, ANSWER_BYTES_MAX, url)).toString());
      if (isJsonObject(value)) return value;
    } catch (fault) {
      if (fault instanceof LogAway) throw fault;
    }
    throw new LogAway(`${url} does not answer as it should`);
  }
}
