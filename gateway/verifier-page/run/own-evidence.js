import '../../../subgraphs/receipt/verify/browser/without-eval.ts';
import { factsOfReceipt, factsOfRefusal, headlineOf } from '../../../rest-compat/receipt/page/facts.ts';
import { isSettled, receiptSummary, spendLanes } from '../../../schema/audit/receipt-summary.ts';
import { escapeControls } from '../../../schema/bidi.js';
import { canonicalJson } from '../../../schema/canonical-json.ts';
import { keysBrought, verifyReceiptAudit, verifyRefusalAudit } from '../../../subgraphs/receipt/verify/audit.ts';
import { verificationJson } from '../../../subgraphs/receipt/verify/report.ts';
import { byId, finding, findingsOf, itemsOf, page } from './findings.js';

/*
 * The program of the page of a receipt or refusal: checks it in the visitor's browser, with the evidence that the page itself contains. It
 * sends no request.
 */

/** The facts that the page shows. A fact that it shows with two different values is empty. @returns {Record<string, string>} */
function shownOnPage() {
  const facts = /** @type {Record<string, string>} */ ({});
  for (const element of page.document.querySelectorAll('[data-fact]')) {
    const { fact } = element.dataset;
    facts[fact] = fact in facts && facts[fact] !== element.textContent ? '' : element.textContent;
  }
  return facts;
}

/** @param {any} audit @param {any} claims */
const factsOf = (audit, claims) =>
  'refusal' in audit ? factsOfRefusal(claims) : factsOfReceipt(claims, audit.receipt);

/** The part of a receipt that only the chain can confirm. @param {any} audit @param {any} claims @returns {string | null} */
function onChain(audit, claims) {
  const { base_anchor: anchor } = claims;
  if ('refusal' in audit) return anchor?.status === 'AVAILABLE' ? `Block ${anchor.block_hash} of Base` : null;
  const { payment_ref } = receiptSummary(claims, audit.receipt);
  return payment_ref && `Transfer ${payment_ref}`;
}

/** @param {any} audit @returns {{findings: import('./findings.js').Finding[], lane: import('../../../schema/audit/receipt-summary.ts').ReceiptSummary | null}} */
function check(audit) {
  // The page needs only two of the kinds of documents, and loads no other.
  const verifyAudit = 'refusal' in audit ? verifyRefusalAudit : verifyReceiptAudit;
  const verified = verificationJson(verifyAudit(audit, keysBrought(audit) ?? { keys: [] }));
  const findings = findingsOf(verified);
  const { claims } = verified;
  if (claims === null) return { findings, lane: null };
  const is_shown = canonicalJson(shownOnPage()) === canonicalJson(factsOf(audit, claims));
  const says = is_shown ? 'The facts above are the signed ones.' : 'The facts above differ from the signed ones.';
  findings.unshift(finding(is_shown ? 'passed' : 'failed', is_shown ? 'Passed' : 'Failed', says, 'page_differs'));
  const transfer = onChain(audit, claims);
  if (transfer) findings.push(finding('open', 'Not checkable here', `${transfer}: look it up on the chain.`, 'chain'));
  return { findings, lane: 'refusal' in audit ? null : receiptSummary(claims, audit.receipt) };
}

/** @param {string} status @param {string} headline @param {string} detail */
function say(status, headline, detail) {
  const verdict = byId('verdict');
  verdict.dataset.status = status;
  page.document.body.dataset.verdict = status;
  verdict.querySelector('.headline').textContent = escapeControls(headline);
  verdict.querySelector('.detail').textContent = escapeControls(detail);
  if (status === 'failed') page.document.title = `FAILED: ${page.document.title}`;
}

const DO_NOT_TRUST = 'Do not trust this page: it fails its checks';

/** @param {string} text of the evidence */
function checkOwnEvidence(text) {
  try {
    const { findings, lane } = check(JSON.parse(text));
    byId('made').replaceChildren(...itemsOf(findings));
    const failed = findings.filter(({ status }) => status === 'failed').map(each => each.text);
    const passed = findings.filter(({ status }) => status === 'passed').length;
    if (failed.length > 0) {
      say(
        'failed',
        DO_NOT_TRUST,
        `${failed.join(' ')} The page was altered, or does not show what the issuer signed. Do not rely on it; load it again from the issuer.`,
      );
      return;
    }
    const made = `${passed} checks passed in your own browser; whether the payment is on its chain was not checked. The keys came with the page: compare them with a key set that you already trust.`;
    if (lane === null) say('passed', 'Every check that can be made here passed', made);
    else
      say(
        isSettled(lane.lane) ? 'passed' : 'open',
        `Signed as shown. ${headlineOf(lane)}`,
        `${spendLanes[lane.lane].means} ${made}`,
      );
  } catch {
    say('failed', DO_NOT_TRUST, 'The data in the page that the checks need is malformed.');
  }
}

checkOwnEvidence(byId('evidence').textContent);
