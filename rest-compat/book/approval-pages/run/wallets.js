import { bytesOf, hexOf } from '../../../receipt/page/check/bytes.js';
import { page } from './dom.js';

/*
 * Wallets of this browser: those that announce themselves (EIP-6963), and how one is asked (EIP-1193).
 */

/** @typedef {{name: string, provider: {request: (asked: object) => Promise<any>}}} Wallet */

/** By the id that each has given itself for as long as the page is open. @type {Map<string, Wallet>} */
const announced = new Map();

/** @param {(id: string, wallet: Wallet) => void} found */
export function watchWallets(found) {
  page.addEventListener('eip6963:announceProvider', (/** @type {any} */ { detail }) => {
    const { info, provider } = detail ?? {};
    if (typeof info?.uuid !== 'string' || typeof provider?.request !== 'function' || announced.has(info.uuid)) return;
    const wallet = { name: `${info.name} (${info.rdns})`, provider };
    announced.set(info.uuid, wallet);
    found(info.uuid, wallet);
  });
  page.dispatchEvent(new page.Event('eip6963:requestProvider'));
}

/**
 * The one to be asked. Wallets that announce themselves put themselves at window.ethereum as well, the last that was loaded: it
 * counts where there is no other.
 * @param {string | undefined} chosen @returns {{kind: 'found', wallet: Wallet} | {kind: 'unsigned', why: string}}
 */
export function walletToAsk(chosen) {
  const only = announced.size === 1 ? [...announced.values()][0] : announced.get(chosen ?? '');
  if (only) return { kind: 'found', wallet: only };
  if (announced.size > 1) return { kind: 'unsigned', why: 'unchosen' };
  if (typeof page.ethereum?.request !== 'function') return { kind: 'unsigned', why: 'none' };
  return { kind: 'found', wallet: { name: 'The wallet of this browser', provider: page.ethereum } };
}

/**
 * Has the wallet's person sign a text of now (personal_sign, EIP-191) with the account that it has selected: the first that it
 * shows. `textAt`: the text, by Unix seconds, which are told once the account is there, since unlocking may take its time.
 * @param {Wallet} wallet @param {(at_seconds: number) => string} textAt
 * @returns {Promise<{kind: 'signed', account: string, signature: unknown, at_seconds: number} | {kind: 'unsigned', why: string}>}
 */
export async function signedBy({ provider }, textAt) {
  try {
    const [account] = await provider.request({ method: 'eth_requestAccounts' });
    if (typeof account !== 'string') return { kind: 'unsigned', why: 'no_account' };
    const at_seconds = Math.floor(Date.now() / 1000);
    const params = [`0x${hexOf(bytesOf(textAt(at_seconds)))}`, account];
    return {
      kind: 'signed',
      account,
      signature: await provider.request({ method: 'personal_sign', params }),
      at_seconds,
    };
  } catch (fault) {
    return { kind: 'unsigned', why: String(/** @type {any} */ (fault)?.code) };
  }
}
