import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { agentId } from '../../../../schema/ids.ts';
import { auditPage } from '../../../../subgraphs/book/export/html.ts';
import { scopeOf } from '../../../../subgraphs/book/export/publish.ts';

/* The export as a page for print, of a row whose texts were chosen by someone else. */

const transaction = `0x${'ab'.repeat(32)}`;

function pageOf(row: JsonObject, profile = 'production'): string {
  const rows = [
    {
      collected_at: '2026-03-01T10:30:00.000Z',
      task_id: 'task_1',
      verify_url: 'https://svc.example/receipt/task_1',
      payment_ref: `base:${transaction}`,
      explorer_url: `https://basescan.org/tx/${transaction}`,
      model: 'm',
      hub: 'h',
      answered_model: null,
      intent_id: null,
      attempt_index: null,
      evidence: 'collected',
      rail: 'usdc',
      amount: '2000',
      ...row,
    },
  ];
  const audit = {
    schema: 'svc402.book_audit.v1',
    agent_id: 7,
    exported_at: '2026-03-02T00:00:00.000Z',
    row_count: 1,
    rows,
    policy: null,
    totals: { by_rail: { usdc: { count: 1, amount: '2000' } }, count: 1, usdc_sum: '2000' },
    attestation_note: '',
  } as unknown as Parameters<typeof auditPage>[0]['audit'];
  const extent = {
    truncated: false,
    matching_count: 1,
    matching_usdc_sum: '2000',
    next: null,
    totals_cover: 'rows_shown',
  } as const;
  return auditPage(
    { audit, scope: scopeOf(agentId(7), {}, null), extent, before: null },
    'https://svc.example',
    profile,
  );
}

describe('the page for print', () => {
  it('leads from each transaction to the explorer of its chain', () => {
    expect(pageOf({})).toContain(
      `base:${transaction} <a href="https://basescan.org/tx/${transaction}" rel="noreferrer noopener">BaseScan</a>`,
    );
  });

  it.each<[string, JsonObject, string]>([
    ['a chain that stands in', {}, 'development'],
    ['a reference that is no transaction', { payment_ref: 'base:"><script>' }, 'production'],
    ['a row without a payment', { payment_ref: null, explorer_url: null }, 'production'],
  ])('leads nowhere of %s', (_, row, profile) => {
    expect(pageOf(row, profile)).not.toContain('basescan.org');
    expect(pageOf(row, profile)).not.toContain('<script');
  });

  it('shows controls of direction, and isolates what runs from right to left', () => {
    const page = pageOf({ intent_id: 'pay \u202e0002', model: 'אבג', hub: '\u2067h\u2069' });
    expect(page).toContain('>pay \\u202e0002</td>');
    expect(page).toContain('><bdi>אבג</bdi><small>\\u2067h\\u2069</small>');
    expect(page).not.toMatch(/[\u202e\u2067\u2069]/);
  });

  it('names the column of each cell, by which a phone shows it', () => {
    const [, heads = ''] = /<table class="rows"><thead>(.*?)<\/thead>/s.exec(pageOf({})) ?? [];
    const named = [...heads.matchAll(/<th[^>]*>([^<]+)</g)].map(([, name]) => name);
    expect([...pageOf({}).matchAll(/data-label="([^"]+)"/g)].map(([, label]) => label)).toEqual(named);
  });
});
