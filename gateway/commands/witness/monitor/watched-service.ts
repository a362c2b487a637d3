import { readFile } from 'node:fs/promises';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../../schema/canonical-json.ts';
import { checksummedAddress } from '../../../../schema/eip55.ts';
import { buyerLimits } from '../../../../schema/limits.ts';
import { jwksUri } from '../../../../schema/links.ts';
import { walletReceiptsText } from '../../../../schema/wallet-receipts.ts';
import type { Clock } from '../../../../subgraphs/clock.ts';
import { readWalletKey } from '../../../config/command-settings.ts';
import { OperatorFault } from '../../../config/fault.ts';
import { LogAway, readWithin } from '../log-source.ts';

const ASK_MS_MAX = 30_000;
const ANSWER_BYTES_MAX = 8 * 2 ** 20;
/** Maximum number of pages, in case a service's pages never end. */
const PAGES_MAX = 100_000;

const Page = z.object({
  receipts: z.array(z.custom<JsonObject>(isJsonObject)).max(buyerLimits.receipts_page_max),
  next: z.int().nullable(),
});
const Offer = z.object({ accepts: z.array(z.object({ network: z.string(), payTo: z.string() })) });

/** Requests to a service that is checked. Each response is limited in time and size. */
export class WatchedService {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** The published key set. @throws LogAway */
  async jwks(): Promise<JsonObject> {
    return this.#json(200, jwksUri(this.#url), { method: 'GET' });
  }

  /** The address at which the service offers to be paid on Base, in lower case; null if it offers none. @throws LogAway */
  async treasury(): Promise<string | null> {
    const { data } = Offer.safeParse(await this.#json(402, `${this.#url}/v1/chat/completions`, { method: 'POST' }));
    return data?.accepts.find(({ network }) => network === 'base')?.payTo.toLowerCase() ?? null;
  }

  /** The wallet's receipts after leaf `behind`, in the log's order. @throws LogAway */
  async *receipts(wallet: string, sign: SignWallet, behind: number): AsyncGenerator<JsonObject> {
    let after = behind;
    for (let page = 0; page < PAGES_MAX; page++) {
      const body = JSON.stringify({ ...(await sign()), after, limit: buyerLimits.receipts_page_max });
      const headers = { 'content-type': 'application/json' };
      const url = `${this.#url}/v1/wallets/${wallet}/receipts`;
      const { data, success } = Page.safeParse(await this.#json(200, url, { method: 'POST', headers, body }));
      if (!success) throw new LogAway(`${url} answers in an unexpected form`);
      yield* data.receipts;
      if (data.next === null) return;
      if (data.next <= after) throw new LogAway(`${url} sends pages without end`);
      after = data.next;
    }
    throw new LogAway(`${this.#url} has too many receipts of ${wallet} for one check`);
  }

  async #json(status: number, url: string, init: RequestInit): Promise<JsonObject> {
    try {
      const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ASK_MS_MAX) });
      if (!answer.body || answer.status !== status) {
        await answer.body?.cancel();
        throw new LogAway(
          `${url} answered ${answer.status}${answer.status === 401 ? ': the wallet signature is not accepted; sign again' : ''}`,
        );
      }
      const value: unknown = JSON.parse((await readWithin(answer.body, ANSWER_BYTES_MAX, url)).toString());
      if (isJsonObject(value)) return value;
    } catch (fault) {
      if (fault instanceof LogAway) throw fault;
    }
    throw new LogAway(`${url} does not answer correctly`);
  }
}

/** Proof that the wallet has signed the request. */
interface WalletProof {
  readonly signed_at: number;
  readonly signature: string;
}

/**
 * Returns the proof for a request. With a key, each request gets a new signature; a signature from a file is used until it expires.
 */
type SignWallet = () => Promise<WalletProof>;

/** Opens a signer by the wallet's key or by a signature file. @throws OperatorFault if neither is given */
export async function walletSigner(
  { wallet, base_url, signature_file }: { wallet: string; base_url: string; signature_file: string | null },
  clock: Clock,
): Promise<SignWallet> {
  const now_seconds = () => Math.floor(clock.now_ms() / 1000);
  if (signature_file !== null) {
    const made = await readSignature(signature_file);
    return async () => made;
  }
  const key = readWalletKey();
  if (key === null) {
    const text = walletReceiptsText(base_url, checksummedAddress(wallet), now_seconds());
    throw new OperatorFault(
      `the wallet ${wallet} has not signed the request: set WALLET_KEY to its private key, or sign \`${text}\` with the wallet (personal_sign), write \`<the seconds in that text>:<signature>\` to a file and pass it with --signature-file within 5 minutes`,
    );
  }
  const account = privateKeyToAccount(key.reveal() as Hex);
  if (account.address.toLowerCase() !== wallet.toLowerCase())
    throw new OperatorFault(`WALLET_KEY is not the private key of ${wallet}, the wallet in --wallet`);
  return async () => {
    const signed_at = now_seconds();
    const message = walletReceiptsText(base_url, account.address, signed_at);
    return { signed_at, signature: await account.signMessage({ message }) };
  };
}

async function readSignature(file: string): Promise<WalletProof> {
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new OperatorFault(`--signature-file ${file} cannot be read (${code}); check the path and its permissions`);
  });
  const [, at, signature] = /^(\d{1,10}):(0x[0-9a-fA-F]+)$/.exec(text.trim()) ?? [];
  if (at === undefined || signature === undefined)
    throw new OperatorFault(`${file} must contain <unix seconds>:<signature>, such as 1780000000:0x…`);
  return { signed_at: Number(at), signature };
}
