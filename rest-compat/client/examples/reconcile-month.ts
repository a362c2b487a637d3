/*
 * Closes a month: exports the spend of a book as a double-entry journal, and checks it against the book's own sums.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000), and AGENT_ID and SESSION of a book; or a wallet with USDC
 * on Base (PRIVATE_KEY), which is registered as an agent and buys two chats, so that there is something to close. MONTH is the
 * month (UTC) as 2026-11, by default the present one; JOURNAL_FILE names the file.
 * Prints: the sum of each account, whether the journal balances and agrees with the book, and where it was written.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from 'spend-receipt-gateway/client';
import { registerAgent } from 'spend-receipt-gateway/client/register-agent';
import { formatUnits, type Hex, parseUnits } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keepSession } from './keep-session.ts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '', AGENT_ID, SESSION } = process.env;
const { MONTH = new Date().toISOString().slice(0, 7), JOURNAL_FILE } = process.env;

/** A new book with three rows: the registration and two chats. */
async function newBook(): Promise<{ agent_id: number; session: string }> {
  const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
  const pay = payingFetch({
    payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
    signText: message => wallet.signMessage({ message }),
  });
  const send = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const response = await pay(SERVICE_URL + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const registered = await keepSession(await registerAgent({ pay, url: SERVICE_URL, wallet }));
  for (const content of ['What is a spend receipt?', 'And who can check it?'])
    await send('/v1/chat/completions', { messages: [{ role: 'user', content }] });
  return registered;
}

const { agent_id, session } = SESSION ? { agent_id: Number(AGENT_ID), session: SESSION } : await newBook();
const book = `${SERVICE_URL}/v1/agents/${agent_id}/book`;
async function get(url: string): Promise<Response> {
  const response = await fetch(url, { headers: { 'X-SVC-Session': session } });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}

// `from` is included, `to` is not: months that are closed one after the other have each row once.
const from = new Date(`${MONTH}-01T00:00:00Z`);
const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
const span = new URLSearchParams({ from: from.toISOString(), to: to.toISOString() });

// For ledger and hledger; accounting software imports `format=csv`. `account_inference=…` and others name your own accounts.
const journal = await (await get(`${book}/export/journal?format=ledger&${span}`)).text();
const file = JOURNAL_FILE ?? join(await mkdtemp(join(tmpdir(), 'journal-')), `${agent_id}-${MONTH}.ledger`);
// What a book holds is private: only this user can read it.
await writeFile(file, journal, { mode: 0o600 });

// Each posting is a line of two spaces, an account, two spaces and an amount with its currency. Sums are of whole numbers of
// atomic units, because floating point would lose some.
const sums = new Map<string, bigint>();
for (const [, account = '', amount = ''] of journal.matchAll(/^ {2}(\S.*?) {2}(-?[\d.]+) USDC$/gm))
  sums.set(account, (sums.get(account) ?? 0n) + parseUnits(amount, 6));
for (const [account, sum] of sums) console.log(`${account}: ${formatUnits(sum, 6)} USDC`);
const balance = [...sums.values()].reduce((sum, one) => sum + one, 0n);
console.log(balance === 0n ? 'the journal balances' : `the journal is off by ${balance}`);

// The book sums the same rows by itself, up to 10,000 of them; of more the sum is null.
const page = await get(`${book}?limit=1&${span}`);
const { matching_usdc_sum } = (await page.json()) as { matching_usdc_sum: string | null };
const credited = -(sums.get('assets:wallet:usdc') ?? 0n);
const agrees = matching_usdc_sum === null || credited === BigInt(matching_usdc_sum);
if (matching_usdc_sum === null) console.log('the book has too many rows in this month to sum them here');
else console.log(`the book has ${formatUnits(BigInt(matching_usdc_sum), 6)} USDC: ${agrees ? 'agrees' : 'DIFFERS'}`);
console.log(`journal: ${file}`);
if (balance !== 0n || !agrees) process.exitCode = 1;
