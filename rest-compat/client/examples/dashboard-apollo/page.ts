/* The page of the dashboard: it writes what `book.ts` reads into three elements. */
import { type DashboardBook, watchDashboardBook } from './book.ts';

/** What the page uses of a browser. A project with TypeScript's "DOM" library needs no such lines. */
declare const document: { getElementById(id: string): { innerHTML: string } };
declare const location: { readonly hash: string };

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

const given = new URLSearchParams(location.hash.slice(1));
watchDashboardBook({
  service: given.get('service') ?? '',
  agent_id: Number(given.get('agent_id')),
  session: given.get('session') ?? '',
  show,
  fail: fault => {
    byId('sums').innerHTML = escaped(String(fault));
  },
});
