import { html } from '../../../schema/html.ts';
import { approvalPage } from './layout.ts';

/** The page of the link that a webhook is told: the same for everybody, since nobody sends it what stands behind the #. */
export const linkPage = approvalPage({
  title: 'Approve a call',
  body: () => html`<main><h1>A call that its book wants approved</h1>
<noscript><p>This page needs JavaScript. <code>POST /v1/approvals/{approval_id}</code> does the same.</p></noscript>
<p class="sum" id="says" role="status" aria-live="polite"></p><dl id="facts"></dl>
<form id="answer" hidden><button value="approve">Approve</button><button value="deny">Deny</button></form>
</main><footer><p>Who has this link answers once. All times are UTC.</p></footer>`,
  script: ['link'],
});
