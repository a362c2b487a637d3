import { checkReceipt } from './receipt-checks.js';
import { checkRefusal } from './refusal-checks.js';

/*
 * Makes the checks in the visitor's browser, with what the page itself brings, and says how they came out. It asks nobody.
 */

/** @type {any} */
const page = globalThis;

const words = { passed: 'Passed', failed: 'Failed', open: 'Not checkable here' };

/** What the page shows of each fact; twice with two meanings is neither. @returns {Record<string, string>} */
function shownOnPage() {
  const facts = /** @type {Record<string, string>} */ ({});
  for (const element of page.document.querySelectorAll('[data-fact]')) {
    const { fact } = element.dataset;
    facts[fact] = fact in facts && facts[fact] !== element.textContent ? '' : element.textContent;
  }
  return facts;
}

/** @param {import('./run.js').Checked} checked */
function showCheck({ name, status, says }) {
  const item = page.document.querySelector(`[data-check="${name}"]`);
  if (!item) return;
  item.dataset.status = status;
  item.querySelector('.status').textContent = words[status];
  item.querySelector('.says').textContent = says;
}

/** @param {readonly import('./run.js').Checked[]} checked */
function verdictOn(checked) {
  const failed = checked.filter(({ status }) => status === 'failed').map(({ name }) => name);
  const open = checked.filter(({ status }) => status === 'open').length;
  if (failed.length > 0)
    return {
      status: 'failed',
      headline: 'Do not trust this page: it fails its checks',
      detail: `Failed: ${failed.join(', ')}. What it says is not what the issuer signed, or was changed on its way.`,
    };
  return {
    status: 'passed',
    headline: 'Every check that can be made here passed',
    detail: `${checked.length - open} checks passed in your own browser, ${open} cannot be made here. The keys came with the page: compare them with a key set that you had before.`,
  };
}

async function show() {
  const verdict = page.document.getElementById('verdict');
  /** @param {{status: string, headline: string, detail: string}} said */
  const say = ({ status, headline, detail }) => {
    verdict.dataset.status = status;
    page.document.body.dataset.verdict = status;
    verdict.querySelector('.headline').textContent = headline;
    verdict.querySelector('.detail').textContent = detail;
    page.document.title = status === 'failed' ? `FAILED: ${page.document.title}` : page.document.title;
  };
  if (!page.crypto?.subtle)
    return say({
      status: 'open',
      headline: 'Not checked here',
      detail: 'This browser makes no checks on a page that came over plain http from another machine.',
    });
  try {
    const audit = JSON.parse(page.document.getElementById('evidence').textContent);
    const checked = await ('refusal' in audit ? checkRefusal : checkReceipt)(audit, shownOnPage());
    for (const each of checked) showCheck(each);
    say(verdictOn(checked));
  } catch {
    say({
      status: 'failed',
      headline: 'Do not trust this page: it fails its checks',
      detail: 'What it brings to be checked is not in its form.',
    });
  }
}

show();
