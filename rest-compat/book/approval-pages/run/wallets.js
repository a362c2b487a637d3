import { escapeControls } from '../../../../schema/bidi.js';
import { bytesOf, hexOf } from './bytes.js';
import { page } from './dom.js';

/*
 * Wallets of this browser: those that announce themselves (EIP-6963), and how one signs (EIP-1193).
 */

/** @typedef {{name: string, provider: {request: (call: object) => Promise<any>}}} Wallet */

/** By the id that each wallet has while the page is open. @type {Map<string, Wallet>} */
const announced = new Map();

/** @param {(id: string, wallet: Wallet) => void} found */
export function watchWallets(found) {
  page.addEventListener('eip6963:announceProvider', (/** @type {any} */ { detail }) => {
    const { info, provider } = detail ?? {};
    if (typeof info?.uuid !== 'string' || typeof provider?.request !== 'function' || announced.has(info.uuid)) return;
    const wallet = { name: escapeControls(`${info.name} (${info.rdns})`), provider };
    announced.set(info.uuid, wallet);
    found(info.uuid, wallet);
  });
  page.dispatchEvent(new page.Event('eip6963:requestProvider'));
}

/**
 * The wallet that signs. Wallets that announce themselves also set window.ethereum, so it is used only if none has announced itself.
 * @param {string | undefined} chosen @returns {{kind: 'found', wallet: Wallet} | {kind: 'unsigned', why: string}}
 */
export function chooseWallet(chosen) {
  const only = announced.size === 1 ? [...announced.values()][0] : announced.get(chosen ?? '');
  if (only) return { kind: 'found', wallet: only };
  if (announced.size > 1) return { kind: 'unsigned', why: 'unchosen' };
  if (typeof page.ethereum?.request !== 'function') return { kind: 'unsigned', why: 'none' };
  return { kind: 'found', wallet: { name: 'The wallet of this browser', provider: page.ethereum } };
}

/**
 * Has the wallet sign a text with the current time (personal_sign, EIP-191) by that account, whichever is selected. `textAt`: the text, by
 * Unix seconds, which are taken when the account is available, because unlocking may take a while. Null if it is no longer wanted.
 * @param {Wallet} wallet @param {string} account @param {(at_seconds: number) => string | null} textAt
 * @returns {Promise<{kind: 'signed', signature: unknown, at_seconds: number} | {kind: 'unsigned', why: string}>}
 */
export async function signText({ provider }, account, textAt) {
  try {
    const shown = /** @type {string[]} */ (await provider.request({ method: 'eth_requestAccounts' }));
    // Wallets differ in the case of addresses.
    const own = shown.find(address => address.toLowerCase() === account.toLowerCase());
    if (own === undefined) return { kind: 'unsigned', why: shown.length === 0 ? 'no_account' : 'not_connected' };
    const at_seconds = Math.floor(Date.now() / 1000);
    const text = textAt(at_seconds);
    if (text === null) return { kind: 'unsigned', why: 'closed' };
    const params = [`0x${hexOf(bytesOf(text))}`, own];
    return { kind: 'signed', signature: await provider.request({ method: 'personal_sign', params }), at_seconds };
  } catch (fault) {
    return { kind: 'unsigned', why: String(/** @type {any} */ (fault)?.code) };
  }
}
