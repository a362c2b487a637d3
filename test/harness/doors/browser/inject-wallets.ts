import type { Page } from 'playwright-core';
import type { Hex, PrivateKeyAccount } from 'viem';

/** A wallet in a person's browser. Its key stays outside of the browser. */
export interface InjectedWallet {
  readonly name: string;
  readonly account: Pick<PrivateKeyAccount, 'address' | 'signMessage'>;
  /** Accounts that the wallet shows to the page. Default: its own account only. */
  readonly shows?: readonly string[];
  /** Delays the person's answer to a request to sign until it resolves. */
  readonly until?: Promise<void>;
  /** The error by which the person declines to sign. Default: the person signs. */
  readonly rejects?: { readonly code: number };
  /** Whether the page finds the wallet only at window.ethereum, as before EIP-6963. */
  readonly silent?: true;
}

interface WalletRequest {
  readonly method: string;
  readonly params?: readonly string[];
}

/** Members of the page's window that code inside the page uses. */
interface Inside extends EventTarget {
  ethereum?: object;
  askWallet(at: number, asked: object): Promise<{ readonly result?: unknown; readonly code?: number }>;
}

/** Puts wallets into a page before it is opened. @returns the texts that they were asked to sign. It grows with each request. */
export async function injectWallets(page: Page, wallets: readonly InjectedWallet[]): Promise<readonly string[]> {
  const texts: string[] = [];
  await page.exposeFunction('askWallet', async (at: number, { method, params = [] }: WalletRequest) => {
    const wallet = wallets[at];
    if (!wallet) throw new Error('there is no such wallet');
    const { account, rejects, until, shows = [account.address] } = wallet;
    if (method === 'eth_requestAccounts') return { result: shows };
    const [raw, by] = params as [Hex, string];
    if (method !== 'personal_sign' || by?.toLowerCase() !== account.address.toLowerCase()) return { code: -32601 };
    texts.push(Buffer.from(raw.slice(2), 'hex').toString());
    await until;
    return rejects ?? { result: await account.signMessage({ message: { raw } }) };
  });
  await page.addInitScript(
    found => {
      const here = globalThis as unknown as Inside;
      found.forEach(({ name, silent }, at) => {
        const provider = {
          async request(asked: object) {
            const { result, code } = await here.askWallet(at, asked);
            if (code !== undefined) throw Object.assign(new Error('refused'), { code });
            return result;
          },
        };
        here.ethereum = provider;
        if (silent) return;
        const detail = Object.freeze({
          info: { uuid: `uuid-${at}`, name, icon: 'data:,', rdns: 'test.wallet' },
          provider,
        });
        const announce = () => here.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
        here.addEventListener('eip6963:requestProvider', announce);
        announce();
      });
    },
    wallets.map(({ name, silent = false }) => ({ name, silent })),
  );
  return texts;
}
