// The view of one workflow: properties, editors, steps and definition. Only its state can be changed.
import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { plainJson, plainName } from '../shared/format.js';
import { Notice } from '../shared/states.js';
import type { Person, Surroundings, WholeWorkflow } from './instance.js';
import { Moment, State } from './list.js';
import type { Model } from './model.js';
import { failureNotice } from './notices.js';
import { words } from './words.js';
import type { Detail } from './workflows.js';
import { workflowName } from './workflows.js';

export function DetailView({ model, detail }: { model: Model; detail: Detail }) {
  const { steps, workflows } = model.visit;
  const { id, failure } = detail;
  const text = words();
  const back = () => steps.goToList();
  if (failure === 'gone')
    return <Notice title={text.goneTitle} text={text.goneText} button={{ label: text.back, act: back }} />;
  if (failure !== undefined) {
    const readAgain = () => void workflows.openWorkflow(id);
    return <Notice {...failureNotice(text.detailFailureTitle, failure, readAgain)} />;
  }
  return <Whole key={id} model={model} detail={detail} back={back} />;
}

function Whole({ model, detail, back }: { model: Model; detail: Detail; back: () => void }) {
  const { workflow, surroundings } = detail;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The link that opened this view is gone, so the heading takes the focus.
    scrollTo(0, 0);
    if (document.hasFocus()) heading.current?.focus({ preventScroll: true });
  }, []);
  const isComplete = surroundings !== undefined;
  return (
    <article id="detail" class="detail" aria-busy={!isComplete}>
      <button id="back" type="button" onClick={back}>
        <span aria-hidden="true">‹</span> {words().back}
      </button>
      <h2 ref={heading} tabIndex={-1}>
        <bdi id="detail-name">{workflow ? workflowName(workflow) : '…'}</bdi>
      </h2>
      {workflow !== undefined && (
        <div class="card facts">
          <State model={model} workflow={workflow} />
          {isComplete && <Facts workflow={workflow as WholeWorkflow} surroundings={surroundings} />}
        </div>
      )}
      {isComplete && <Definition workflow={workflow as WholeWorkflow} />}
    </article>
  );
}

function Facts({ workflow, surroundings }: { workflow: WholeWorkflow; surroundings: Surroundings }) {
  const { project, editors } = surroundings;
  const text = words();
  return (
    <dl>
      <div>
        <dt>{text.byChange}</dt>
        <dd>
          <Moment at={workflow.updatedAt} isAbsolute />
        </dd>
      </div>
      <div>
        <dt>{text.made}</dt>
        <dd>
          <Moment at={workflow.createdAt} isAbsolute />
        </dd>
      </div>
      {project !== null && (
        <div>
          <dt>{text.project}</dt>
          <dd>
            <bdi>{project.type === 'personal' ? text.personalProject : plainName(project.name)}</bdi>
          </dd>
        </div>
      )}
      <div>
        <dt>{text.mayEdit}</dt>
        <dd id="detail-editors">
          <Editors editors={editors} canEdit={workflow.canEdit === true} />
        </dd>
      </div>
    </dl>
  );
}

/** Administrators may edit everything but are members of few projects. */
function Editors({ editors, canEdit }: { editors: Person[] | null; canEdit: boolean }) {
  const { you, notYou, administrators } = words();
  if (editors === null) return <>{canEdit ? you : notYou}</>;
  return (
    <>
      {editors.map((editor) => (
        <Fragment key={editor.id}>
          <bdi>{personName(editor)}</bdi>
          {', '}
        </Fragment>
      ))}
      {administrators}
    </>
  );
}

/** A user's name, or the e-mail address if there is no name. */
export function personName({ givenName, familyName, email }: Person): string {
  return plainName(`${givenName} ${familyName}`) || plainName(email);
}

function Definition({ workflow: { nodes, connections } }: { workflow: WholeWorkflow }) {
  const text = words();
  return (
    <>
      <h3>{text.steps}</h3>
      {nodes.length === 0 && <p class="soft">{text.noSteps}</p>}
      {nodes.length > 0 && (
        <ol id="steps" class="card list steps">
          {nodes.map((node, index) => (
            <Step key={index} node={node} next={nextOf(connections[String(node.name)])} />
          ))}
        </ol>
      )}
      <details>
        <summary>{text.definition}</summary>
        <pre id="definition" class="card" tabIndex={0} role="region" aria-label={text.definition}>
          {plainJson({ nodes, connections })}
        </pre>
      </details>
    </>
  );
}

function Step({ node, next }: { node: WholeWorkflow['nodes'][number]; next: string[] }) {
  return (
    <li>
      <strong>
        <bdi>{plainName(node.name) || words().unnamedStep}</bdi>
      </strong>{' '}
      <code>
        <bdi>{plainName(node.type)}</bdi>
      </code>
      {next.length > 0 && <p class="soft">{words().leadsTo(next.map(plainName))}</p>}
    </li>
  );
}

/** The targets of connections. Nothing has checked the stored form. */
export function nextOf(connections: unknown): string[] {
  if (typeof connections !== 'object' || connections === null) return [];
  const { node } = connections as { node?: unknown };
  const found = typeof node === 'string' ? [node] : Object.values(connections).flatMap(nextOf);
  return [...new Set(found)];
}
