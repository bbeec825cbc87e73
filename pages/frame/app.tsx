// The page: who is signed in, what there is to say of the session, and the workflows.
import { plainName } from '../shared/format.js';
import { BusyButton, News, Notice, Problem, Skeleton } from '../shared/states.js';
import { DetailView, personName } from './detail.js';
import { ListView } from './list.js';
import type { Model } from './model.js';
import { visitNotice } from './notices.js';
import { words } from './words.js';

export function App({ model }: { model: Model }) {
  const { visit } = model;
  const { phase, workflows } = visit;
  const { kind } = phase.value;
  const notice = visitNotice(model);
  const isInView = visit.session !== null;
  const detail = workflows.detail.value;
  return (
    <>
      <Header model={model} />
      <main>
        <Problem>{visit.hasLeavingProblem.value && words().signOutProblem}</Problem>
        <News text={notice?.title ?? workflows.news.value} />
        {notice && <Notice {...notice} isBanner={isInView} />}
        {kind === 'loading' && !isInView && <Skeleton />}
        {isInView && (
          <div inert={kind === 'ended'}>
            <ListView model={model} isShown={detail === null} />
            {detail !== null && <DetailView model={model} detail={detail} />}
          </div>
        )}
      </main>
    </>
  );
}

function Header({ model: { visit } }: { model: Model }) {
  const text = words();
  const user = visit.user.value;
  const roles: Record<string, string> = {
    'global:owner': text.owner,
    'global:admin': text.administrator,
    'global:member': text.member,
  };
  return (
    <header>
      <h1 id="title" tabIndex={-1}>
        {text.workflows}
      </h1>
      {user !== null && (
        <div id="account" class="account">
          <p class="person">
            <span class="unseen">{text.signedInAs}</span>
            <strong>
              <bdi id="person">{personName(user)}</bdi>
            </strong>
            <span id="role" class="soft">
              {roles[user.role] ?? plainName(user.role)}
            </span>
          </p>
          {visit.phase.value.kind !== 'ended' && (
            <BusyButton id="sign-out" isBusy={visit.isLeaving.value} act={() => void visit.signOut(false)}>
              {text.signOut}
            </BusyButton>
          )}
        </div>
      )}
    </header>
  );
}
