import { parseAtomic } from '../../../schema/amount.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { explorerPage } from '../../../schema/explorers.ts';
import type { ExportScope } from '../../../schema/export-coverage.ts';
import { Html, html } from '../../../schema/html.ts';
import { type BookAudit, type ExportExtent, pendingOf } from './audit.ts';
import { currencyOf, decimalText } from './currency.ts';

/* Print page of an export: A4 landscape, with a header on each sheet, without scripts and external resources. */

const STYLE = `
  @page { size: A4 landscape; margin: 14mm 12mm 16mm; @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; } }
  * { box-sizing: border-box; }
  body { font: 9.5pt/1.4 "Helvetica Neue", Arial, "Liberation Sans", sans-serif; color: #1a1a1a; margin: 0 auto; padding: 8mm; max-width: 297mm; }
  @media print { body { padding: 0; max-width: none; } }
  h1 { font-size: 17pt; margin: 0 0 1mm; } h2 { font-size: 11pt; margin: 7mm 0 2mm; }
  p { margin: 0 0 2mm; } .quiet { color: #555; }
  dl { display: grid; grid-template-columns: max-content 1fr max-content 1fr; gap: 1mm 6mm; margin: 5mm 0 0; padding: 3mm 0; border: solid #999; border-width: .3mm 0; }
  dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; } thead { display: table-header-group; } tr { break-inside: avoid; }
  th { text-align: left; font-weight: 600; border-bottom: .4mm solid #1a1a1a; padding: 1mm 2mm 1mm 0; white-space: nowrap; }
  td { border-bottom: .15mm solid #bbb; padding: 1.2mm 2mm 1.2mm 0; vertical-align: top; overflow-wrap: anywhere; }
  td.time, td.amount { white-space: nowrap; font-variant-numeric: tabular-nums; } .amount { text-align: right; }
  .rows td { min-width: 20mm; } td small { display: block; color: #555; font-size: 7.5pt; } a { color: inherit; }
  tfoot td { font-weight: 600; border-bottom: 0; border-top: .4mm solid #1a1a1a; } .sums { width: auto; min-width: 60%; }
  footer { margin-top: 8mm; color: #555; font-size: 8pt; break-inside: avoid; } a, small { unicode-bidi: isolate; }
  /* On a phone a row is a card: each cell on a line of its own, behind the name of its column. */
  @media screen and (max-width: 40rem) {
    body { padding: 4mm; overflow-wrap: anywhere; } dl { grid-template-columns: max-content 1fr; } th { white-space: normal; }
    .rows, .rows tbody, .rows tr, .rows td { display: block; } .rows thead { position: absolute; clip-path: inset(50%); }
    .rows tr { padding: 2mm 0; border-bottom: .3mm solid #999; } .rows td { position: relative; border: 0; padding: .5mm 0 .5mm 8.5rem; text-align: left; min-height: 1.4em; }
    .rows td::before { content: attr(data-label); position: absolute; left: 0; color: #555; } .rows td:empty { display: none; }
  }`;

/** Data that the page shows. */
interface PageData {
  readonly audit: BookAudit;
  readonly scope: ExportScope;
  readonly extent: ExportExtent;
  /** The page shows rows older than this seq. Null if it starts with the newest row. */
  readonly before: number | null;
}

/**
 * Writes the print page.
 * @param profile profile of the service: in development, payments are on a local chain, for which there is no explorer
 */
export function auditPage(printed: PageData, base_url: string, profile: string): string {
  const { audit, extent } = printed;
  const { agent_id, exported_at, row_count, rows } = audit;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Book of agent ${agent_id}, ${exported_at.slice(0, 10)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${new Html(STYLE)}</style></head>
<body><header><h1>Spend of agent ${agent_id}</h1>
<p class="quiet">Audit export of the book at ${base_url}. All times are UTC.</p>
<dl>${facts(printed)}</dl></header>
<h2>Totals of the rows on this page</h2>${sums(audit)}${leftOut(extent)}
<h2>${row_count === 0 ? 'No rows' : row_count === 1 ? '1 row' : `${row_count} rows`}</h2>${row_count === 0 ? html`<p>No row matches the filter.</p>` : table(rows, profile)}
<footer><p>${audit.attestation_note}</p><p>${audit.schema}. The same data is available as JSON and CSV at ${base_url}/v1/agents/${agent_id}/book/export.</p></footer>
</body></html>
`;
  return page.text;
}

function facts({ audit, scope, extent, before }: PageData): Html[] {
  const { exported_at, row_count, policy } = audit;
  const { from, to, filters } = scope;
  const { evidence, intent_id, delegation_hash } = filters;
  const period = from === null && to === null ? 'whole book' : `${from ?? 'its beginning'} to ${to ?? 'now'}`;
  const older = before !== null && `older than row ${before}`;
  const session = delegation_hash && `session ${delegation_hash}`;
  const filtered = [evidence && `evidence ${evidence}`, intent_id && `intent ${intent_id}`, session, older];
  const policies = Object.entries(policy ?? {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return [
    ['Exported', exported_at.replace('T', ' ').replace(/\.\d+Z$/, '')],
    ['Rows', rowsOf(row_count, extent)],
    ['Period', period],
    ['Filter', filtered.filter(Boolean).join(', ') || 'none'],
    ['Policy', policies.join(', ') || 'none set'],
  ].map(([name = '', value = '']) => html`<dt>${name}</dt><dd>${value}</dd>`);
}

function rowsOf(row_count: number, { truncated, matching_count }: ExportExtent): string {
  if (!truncated) return `${row_count} (all matching rows)`;
  return matching_count === null
    ? `${row_count} (there may be more matching rows)`
    : `${row_count} of ${matching_count} matching rows`;
}

/** Paragraph about matching rows that the page does not show, with the URL of the next older ones. Empty if it shows all. */
function leftOut({ truncated, matching_count, matching_usdc_sum, next }: ExportExtent): Html | string {
  if (!truncated) return '';
  const all =
    matching_count === null || matching_usdc_sum === null
      ? 'The number of matching rows was not determined.'
      : `The sum of the USDC amounts of all ${matching_count} matching rows is ${decimalText(BigInt(matching_usdc_sum), usdc)} USDC.`;
  return html`<p><strong>This page shows only some of the matching rows.</strong> ${all}${next === null ? '' : ` Next older rows: ${next}`}</p>`;
}

const usdc = currencyOf('usdc');

function sums({ totals, rows }: BookAudit): Html {
  const rails = Object.entries(totals.by_rail).map(([rail, { count, amount }]) => {
    const currency = currencyOf(rail);
    return html`<tr><td>${rail}</td><td class="amount">${count}</td><td class="amount">${decimalText(BigInt(amount), currency)} ${currency.code}</td></tr>`;
  });
  if (rails.length === 0) return html`<p>No row carries an amount.</p>`;
  return html`<table class="sums"><thead><tr><th>Rail</th><th class="amount">Rows with an amount</th><th class="amount">Amount</th></tr></thead>
<tbody>${rails}</tbody></table>${notSeenYet(rows)}`;
}

/** Paragraph about the part of the sums that may still be removed. Empty if there is none. */
function notSeenYet(rows: readonly JsonObject[]): Html | string {
  const pending = BigInt(pendingOf(rows).pending_usdc_sum);
  if (pending === 0n) return '';
  return html`<p>Of this, ${decimalText(pending, usdc)} USDC is pending: its transfers have not been observed yet (RECORDED_BY_SETTLE).</p>`;
}

function table(rows: readonly JsonObject[], profile: string): Html {
  return html`<table class="rows"><thead><tr><th>Collected at</th><th>Task and payment</th><th>Model</th><th>Intent</th><th>Evidence</th><th class="amount">Amount</th></tr></thead>
<tbody>${rows.map(row => rowOf(row, profile))}</tbody></table>`;
}

function rowOf(row: JsonObject, profile: string): Html {
  const { collected_at, task_id, payment_ref, model, hub, answered_model, intent_id, attempt_index, evidence, rail } =
    row;
  const attempt = attempt_index === null ? null : html`<small>attempt ${attempt_index}</small>`;
  const collected = String(collected_at)
    .replace('T', ' ')
    .replace(/\.\d+Z$/, '');
  return html`<tr><td class="time" data-label="Collected at">${collected}</td>
<td data-label="Task and payment">${link(row.verify_url, task_id)}<small>${payment_ref}${explorerLink(payment_ref, profile)}</small></td>
<td data-label="Model">${model}<small>${hub}</small>${answeredBy(answered_model, model)}</td><td data-label="Intent">${intent_id}${attempt ?? ''}</td>
<td data-label="Evidence">${evidence}<small>${row.reason ?? row.omission_rule}</small>${setAside(row)}</td><td class="amount" data-label="Amount">${amountOf(row.amount, rail)}</td></tr>`;
}

/** Model that the hub named, if it differs from the requested one. */
function answeredBy(answered_model: Json | undefined, model: Json | undefined): Html | string {
  return typeof answered_model === 'string' && answered_model !== model
    ? html`<small>hub named ${answered_model}</small>`
    : '';
}

/** Allocation of an inflow. It is not shown as an amount, because nothing was paid, but readers look for it. */
function setAside({ bucket, inflow_claim }: JsonObject): Html | string {
  const allocation = isJsonObject(inflow_claim) ? inflow_claim.allocation : null;
  const atomic = typeof allocation === 'string' ? parseAtomic(allocation) : null;
  if (atomic === null) return '';
  return html`<small>${bucket}: ${decimalText(atomic, usdc)} USDC set aside</small>`;
}

function explorerLink(payment_ref: Json | undefined, profile: string): Html | string {
  const page = explorerPage(payment_ref, profile);
  return page ? html` <a href="${page.url}" rel="noreferrer noopener">${page.name}</a>` : '';
}

function link(url: Json | undefined, text: Json | undefined): Html {
  return typeof url === 'string' && /^https?:\/\//.test(url) ? html`<a href="${url}">${text}</a>` : html`${text}`;
}

function amountOf(amount: Json | undefined, rail: Json | undefined): string {
  if (typeof amount !== 'string') return '–';
  const currency = currencyOf(typeof rail === 'string' ? rail : null);
  return `${decimalText(BigInt(amount), currency)} ${currency.code}`;
}
