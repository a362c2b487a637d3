/* The page of the dashboard: it writes what `book.ts` reads into three elements. */
import { type DashboardBook, watchDashboardBook } from './book.ts';

/** What the page uses of a browser. A project with TypeScript's "DOM" library needs no such lines. */
declare const document: { getElementById(id: string): { innerHTML: string } };
declare const location: { readonly hash: string };
declare const history: { replaceState(data: unknown, unused: string, url: string): void };

const byId = (id: string) => document.getElementById(id);
/** Names of models and tasks are text, whatever is in them. */
const escaped = (text: string) => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
const cells = (tag: 'th' | 'td', texts: readonly string[]) =>
  `<tr>${texts.map(text => `<${tag}>${escaped(text)}</${tag}>`).join('')}</tr>`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [cells('th', head), ...rows.map(row => cells('td', row))].join('');

/** Atomic units as USDC, by digits alone. */
function usdc(atomic: string | null): string {
  if (atomic === null) return '—';
  const digits = atomic.padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

function show({ spent, remaining, totalsBy, rows }: DashboardBook): void {
  const left = remaining === null ? 'no budget' : `${usdc(remaining)} USDC left`;
  byId('sums').innerHTML = escaped(`${usdc(spent)} USDC spent, ${left}`);
  byId('models').innerHTML = table(
    ['model', 'calls', 'USDC'],
    totalsBy.map(({ key, count, amount }) => [key ?? '—', String(count), usdc(amount)]),
  );
  byId('rows').innerHTML = table(
    ['row', 'time', 'model', 'USDC', 'evidence', 'task'],
    rows.edges.map(({ node: { seq, collectedAt, route, payment, evidence, taskId } }) => [
      String(seq),
      collectedAt,
      route.model ?? '—',
      usdc(payment.amount),
      evidence,
      taskId,
    ]),
  );
}

const fail = (fault: unknown) => {
  byId('sums').innerHTML = escaped(String(fault));
};

/** The server accepts the key of its link once. @throws Error if it was used before */
async function bookOf(key: string): Promise<{ service: string; agent_id: number; session: string }> {
  const answer = await fetch('/book', { method: 'POST', headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error('The link was opened before. Start the example again for another one.');
  return answer.json() as Promise<{ service: string; agent_id: number; session: string }>;
}

const key = location.hash.slice(1);
// Neither the address bar nor a bookmark keeps it.
history.replaceState(null, '', '/');
bookOf(key).then(book => watchDashboardBook({ ...book, show, fail }), fail);
